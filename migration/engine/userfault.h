// userfaultfd(2), with what Debian 12's headers lack.
#pragma once
#include <cstdint>
#include <linux/userfaultfd.h>
#include <sys/ioctl.h>

namespace tc {

class Userfault {
  public:
    // 0, or the errno that says why not: EPERM, ENOSYS, EINVAL (a feature is missing).
    static int open(Userfault &);
    explicit Userfault(int fd = -1) : fd_(fd) {}
    int fd() const { return fd_; }

    bool watch(uint64_t from, uint64_t to) const; // holes and all
    void unwatch(uint64_t from, uint64_t to) const;
    // Moves pages that are there to where none are.  Gives the bytes done; errno says what
    // stopped it.  EAGAIN with nothing done: the program changes its mappings, read the events.
    uint64_t move(uint64_t to, uint64_t from, uint64_t bytes, bool wakes) const;
    uint64_t copy(uint64_t to, const void *from, uint64_t bytes) const; // the same; wakes
    void wake(uint64_t from, uint64_t bytes) const;

  private:
    int fd_;
};

} // namespace tc
