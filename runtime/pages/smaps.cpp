// See smaps.h.
#include "smaps.h"
#include <cstring>

namespace tc::pages {
namespace {

// The number at `at`, in hexadecimal or decimal, and what follows it; null if there is none.
const char *number(const char *at, unsigned base, uint64_t &value) {
    const char *const start = at;
    for (value = 0;; ++at) {
        unsigned digit = 99;
        if (*at >= '0' && *at <= '9')
            digit = unsigned(*at - '0');
        else if (*at >= 'a' && *at <= 'f')
            digit = unsigned(*at - 'a') + 10;
        if (digit >= base)
            return at > start ? at : nullptr;
        value = value * base + digit;
    }
}

} // namespace

void SmapsReader::end_line() {
    line[used < sizeof line ? used : sizeof line - 1] = 0;
    used = 0;
    static const char field[] = "Referenced:";
    if (strncmp(line, field, sizeof field - 1) == 0) {
        const char *at = line + sizeof field - 1;
        while (*at == ' ')
            ++at;
        uint64_t kib;
        if (number(at, 10, kib) && kib <= UINT64_MAX >> 10 && mapping.from < mapping.to) {
            mapping.referenced = kib << 10;
            each(context, mapping);
        }
        mapping = {};
        return;
    }
    uint64_t from, to;
    const char *dash = number(line, 16, from);
    if (!dash || *dash != '-')
        return; // another field
    const char *rest = number(dash + 1, 16, to);
    mapping = rest && *rest == ' ' ? SmapsMapping{from, to, 0} : SmapsMapping{};
}

void SmapsReader::take(const char *text, size_t bytes) {
    for (size_t i = 0; i < bytes; ++i) {
        if (text[i] == '\n')
            end_line();
        else if (used < sizeof line - 1)
            line[used++] = text[i];
    }
}

} // namespace tc::pages
