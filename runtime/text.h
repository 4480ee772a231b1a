// Text without malloc or stdio: messages, numbers, JSON.
#pragma once
#include <cstddef>
#include <cstdint>

namespace tc {

// Appends to a buffer that the caller owns; what does not fit is cut.
class Line {
  public:
    Line(char *buffer, size_t size) : at(buffer), left(size ? size - 1 : 0) {
        if (size)
            *at = 0;
    }
    Line &operator<<(const char *);
    Line &operator<<(uint64_t);
    Line &operator<<(char);

  private:
    char *at;
    size_t left;
};

// "thermocline: ..." and a newline on stderr, in one write.
void complain(const char *message);

// JSON into a file, through a buffer.  Commas are put by itself.
class JsonFile {
  public:
    explicit JsonFile(int fd) : fd(fd) {}
    void open(char bracket, const char *name = nullptr); // '{' or '['
    void close(char bracket);
    void string(const char *name, const char *value); // null pointer: null
    void number(const char *name, uint64_t value);
    void seconds(const char *name, uint64_t nanoseconds);
    void null(const char *name);
    void boolean(const char *name, bool value);
    bool finish(); // false if any write failed

  private:
    void begin(const char *name);
    void put(char);
    void put(const char *);
    void quoted(const char *);
    void flush();
    int fd;
    bool failed = false, first = true;
    size_t used = 0;
    char buffer[4096];
};

} // namespace tc
