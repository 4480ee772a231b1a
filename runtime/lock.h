// A lock that needs no initialisation and may be held across fork.  Who waits sleeps: a
// real-time thread that span would keep the holder from its processor for ever.
#pragma once
#include <cerrno>
#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace tc {

class Lock {
  public:
    void acquire() {
        for (int attempt = 0; attempt < 100; attempt++) {
            int none = 0;
            if (__atomic_compare_exchange_n(&held, &none, 1, true, __ATOMIC_ACQUIRE,
                                            __ATOMIC_RELAXED))
                return;
        }
        const int saved = errno;
        while (__atomic_exchange_n(&held, 2, __ATOMIC_ACQUIRE))
            syscall(SYS_futex, &held, FUTEX_WAIT_PRIVATE, 2, nullptr);
        errno = saved;
    }
    void release() {
        if (__atomic_exchange_n(&held, 0, __ATOMIC_RELEASE) != 2)
            return;
        const int saved = errno;
        syscall(SYS_futex, &held, FUTEX_WAKE_PRIVATE, 1);
        errno = saved;
    }

  private:
    int held = 0; // 1: held; 2: held, and somebody may sleep
};

class Guard {
  public:
    explicit Guard(Lock &l) : lock(l) { lock.acquire(); }
    ~Guard() { lock.release(); }
    Guard(const Guard &) = delete;
    Guard &operator=(const Guard &) = delete;

  private:
    Lock &lock;
};

} // namespace tc
