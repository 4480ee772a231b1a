// See thread_stack.h.  Not pthread_getattr_np: that allocates, and takes a lock of the thread's
// that its caller may hold.
#include "thread_stack.h"
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace tc {
namespace {

constexpr uintptr_t page = 4096;

struct Bounds {
    uintptr_t low, high;
    bool known; // also when they are empty
};
__thread Bounds bounds __attribute__((tls_model("initial-exec")));

// glibc puts a thread's control block at the end of its stack.
uintptr_t control_block() { return reinterpret_cast<uintptr_t>(__builtin_thread_pointer()); }

// Reads /proc/self/maps with little stack, since a thread may have little.
class Maps {
  public:
    Maps() : file(open("/proc/self/maps", O_RDONLY | O_CLOEXEC)) {}
    ~Maps() {
        if (file >= 0)
            close(file);
    }
    Maps(const Maps &) = delete;
    Maps &operator=(const Maps &) = delete;

    // The next line's addresses, and whether it is the main thread's stack.
    bool next(uintptr_t &from, uintptr_t &to, bool &is_stack) {
        from = number('-');
        to = number(' ');
        char tail[8] = {};
        int c;
        while ((c = take()) > 0 && c != '\n') {
            memmove(tail, tail + 1, 6);
            tail[6] = static_cast<char>(c);
        }
        is_stack = strcmp(tail, "[stack]") == 0;
        return c > 0;
    }

  private:
    int take() {
        if (at == filled) {
            const ssize_t got = file < 0 ? 0 : read(file, text, sizeof text);
            at = 0;
            filled = got > 0 ? static_cast<size_t>(got) : 0;
        }
        return at < filled ? static_cast<unsigned char>(text[at++]) : 0;
    }
    uintptr_t number(char ends) {
        uintptr_t value = 0;
        for (int c; (c = take()) > 0 && c != ends;)
            value = value * 16 + static_cast<uintptr_t>(c <= '9' ? c - '0' : c - 'a' + 10);
        return value;
    }
    int file;
    size_t at = 0, filled = 0;
    char text[512];
};

// The main thread's grows down, as far as its limit.
uintptr_t lowest(uintptr_t high) {
    constexpr uintptr_t most = uintptr_t(1) << 30;
    rlimit limit;
    const uintptr_t bytes =
        getrlimit(RLIMIT_STACK, &limit) == 0 && limit.rlim_cur < most ? limit.rlim_cur : most;
    return high > bytes ? high - bytes : 0;
}

void find_bounds() {
    const int saved = errno;
    const bool main_thread = syscall(SYS_gettid) == getpid();
    Maps maps;
    uintptr_t from, to;
    bool is_stack;
    while (maps.next(from, to, is_stack)) {
        if (main_thread ? !is_stack : !(from < control_block() && control_block() <= to))
            continue;
        bounds.high = main_thread ? to : control_block();
        bounds.low = main_thread ? lowest(to) : from;
        break;
    }
    bounds.known = true;
    errno = saved;
}

} // namespace

uintptr_t readable_until(uintptr_t sp) {
    if (!bounds.known)
        find_bounds();
    if (sp >= bounds.low && sp < bounds.high)
        return bounds.high;
    return (sp - 1) / page * page + page;
}

} // namespace tc
