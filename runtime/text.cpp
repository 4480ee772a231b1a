// Text without malloc or stdio.
#include "text.h"
#include <cerrno>
#include <cstring>
#include <sys/uio.h>
#include <unistd.h>

namespace tc {

Line &Line::operator<<(char c) {
    if (left) {
        *at++ = c;
        *at = 0;
        left--;
    }
    return *this;
}

Line &Line::operator<<(const char *text) {
    while (*text)
        *this << *text++;
    return *this;
}

Line &Line::operator<<(uint64_t number) {
    char digits[24];
    char *p = digits + sizeof digits;
    *--p = 0;
    do
        *--p = static_cast<char>('0' + number % 10);
    while (number /= 10);
    return *this << p;
}

static bool write_all(int fd, const char *data, size_t size) {
    while (size) {
        const ssize_t n = write(fd, data, size);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return false;
        data += n;
        size -= static_cast<size_t>(n);
    }
    return true;
}

void complain(const char *message) {
    // One write, so that lines of several processes do not mix; no copy, for small stacks' sake.
    const iovec parts[] = {{const_cast<char *>("thermocline: "), 13},
                           {const_cast<char *>(message), strlen(message)},
                           {const_cast<char *>("\n"), 1}};
    if (writev(STDERR_FILENO, parts, 3) < 0)
        return; // and nobody to tell
}

void JsonFile::put(char c) {
    if (used == sizeof buffer)
        flush();
    buffer[used++] = c;
}

void JsonFile::put(const char *text) {
    while (*text)
        put(*text++);
}

void JsonFile::flush() {
    if (!write_all(fd, buffer, used))
        failed = true;
    used = 0;
}

// The bytes of the UTF-8 character beyond ASCII that begins here; 0 if none does.
static unsigned utf8_bytes(const char *text) {
    const auto *byte = reinterpret_cast<const unsigned char *>(text);
    const unsigned bytes = *byte >= 0xf0 ? 4 : *byte >= 0xe0 ? 3 : 2;
    if (*byte < 0xc2 || *byte > 0xf4)
        return 0;
    uint32_t character = *byte & (0x7f >> bytes);
    for (unsigned i = 1; i < bytes; i++) {
        if ((byte[i] & 0xc0) != 0x80)
            return 0;
        character = character << 6 | (byte[i] & 0x3f);
    }
    const uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
    const bool surrogate = character >= 0xd800 && character < 0xe000;
    return character < least[bytes] || character > 0x10ffff || surrogate ? 0 : bytes;
}

void JsonFile::quoted(const char *text) {
    static const char hex[] = "0123456789abcdef";
    put('"');
    for (; *text; text++) {
        const unsigned char c = static_cast<unsigned char>(*text);
        if (c == '"' || c == '\\') {
            put('\\');
            put(*text);
        } else if (const unsigned more = utf8_bytes(text)) {
            for (unsigned i = 0; i < more; i++)
                put(text[i]);
            text += more - 1;
        } else if (c < 0x20 || c >= 0x7f) { // bytes of names are not always UTF-8
            put("\\u00");
            put(hex[c >> 4]);
            put(hex[c & 15]);
        } else {
            put(*text);
        }
    }
    put('"');
}

void JsonFile::begin(const char *name) {
    if (!first)
        put(",\n ");
    first = false;
    if (name) {
        quoted(name);
        put(": ");
    }
}

void JsonFile::open(char bracket, const char *name) {
    begin(name);
    put(bracket);
    first = true;
}

void JsonFile::close(char bracket) {
    put(bracket);
    first = false;
}

void JsonFile::string(const char *name, const char *value) {
    begin(name);
    if (value)
        quoted(value);
    else
        put("null");
}

void JsonFile::number(const char *name, uint64_t value) {
    char text[24];
    Line(text, sizeof text) << value;
    begin(name);
    put(text);
}

void JsonFile::seconds(const char *name, uint64_t nanoseconds) {
    char text[40];
    Line line(text, sizeof text);
    line << nanoseconds / 1000000000 << '.';
    uint64_t rest = nanoseconds % 1000000000;
    for (uint64_t digit = 100000000; digit >= 1000; digit /= 10) // to a microsecond
        line << static_cast<char>('0' + rest / digit % 10);
    begin(name);
    put(text);
}

void JsonFile::null(const char *name) {
    begin(name);
    put("null");
}

void JsonFile::boolean(const char *name, bool value) {
    begin(name);
    put(value ? "true" : "false");
}

bool JsonFile::finish() {
    put('\n');
    flush();
    return !failed;
}

} // namespace tc
