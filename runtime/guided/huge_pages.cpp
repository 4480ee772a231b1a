// See huge_pages.h.
#include "huge_pages.h"
#include "tiers.h"
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <unistd.h>

namespace tc {
namespace {

// The number at `at`, of base 10 or 16, and what follows it.
uint64_t number(const char *&at, unsigned base) {
    uint64_t value = 0;
    for (;; at++) {
        unsigned digit = base;
        if (*at >= '0' && *at <= '9')
            digit = static_cast<unsigned>(*at - '0');
        else if (*at >= 'a' && *at <= 'f')
            digit = static_cast<unsigned>(*at - 'a') + 10;
        if (digit >= base)
            return value;
        value = value * base + digit;
    }
}

// "AnonHugePages:      2048 kB"
bool field(const char *line, const char *name, uint64_t &bytes) {
    const size_t length = strlen(name);
    if (strncmp(line, name, length) != 0)
        return false;
    for (line += length; *line == ' '; line++)
        ;
    bytes = number(line, 10) << 10;
    return true;
}

// A line of a mapping's: its first, "7f0000000000-7f0000200000 rw-p ...", or a field.
void take(const char *line, bool &ours, HugePages &sum) {
    const char *at = line;
    const auto start = reinterpret_cast<const void *>(number(at, 16));
    uint64_t bytes;
    if (at > line && *at == '-')
        ours = class_of(start) < ranges.count && ranges.huge[class_of(start)];
    else if (ours && field(line, "Rss:", bytes))
        sum.resident += bytes;
    else if (ours && field(line, "AnonHugePages:", bytes))
        sum.huge += bytes;
}

} // namespace

bool wants_huge_pages() {
    bool any = false;
    for (unsigned number = 0; number < ranges.count; number++)
        any = any || ranges.huge[number];
    return any;
}

HugePages measure_huge_pages() {
    HugePages sum{};
    const int fd = open("/proc/self/smaps", O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return sum;
    static char text[16384];
    static char line[128]; // as much of each as matters
    size_t used = 0;
    bool ours = false;
    for (;;) {
        const ssize_t n = read(fd, text, sizeof text);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            break;
        for (ssize_t i = 0; i < n; i++)
            if (text[i] == '\n') {
                line[used] = 0;
                used = 0;
                take(line, ours, sum);
            } else if (used < sizeof line - 1) {
                line[used++] = text[i];
            }
    }
    close(fd);
    return sum;
}

} // namespace tc
