// A lock that needs no initialisation and may be held across fork.
#pragma once
#include <sched.h>

namespace tc {

class Lock {
  public:
    void acquire() {
        while (__atomic_exchange_n(&held, 1, __ATOMIC_ACQUIRE))
            sched_yield();
    }
    void release() { __atomic_store_n(&held, 0, __ATOMIC_RELEASE); }

  private:
    int held = 0;
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
