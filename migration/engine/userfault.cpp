// See userfault.h.
#include "userfault.h"
#include "page_table.h"
#include <cerrno>
#include <fcntl.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace tc {
namespace {

// linux/userfaultfd.h since 6.8.
struct MoveRequest {
    uint64_t to, from, bytes, mode;
    int64_t moved;
};
constexpr unsigned long move_request = _IOWR(UFFDIO, 0x05, MoveRequest);
constexpr uint64_t feature_protect_async = 1 << 15, feature_move = 1 << 16,
                   move_does_not_wake = 1 << 0;
constexpr unsigned long new_userfault = _IO(0xAA, 0x00); // of /dev/userfaultfd

int get() {
    const int flags = O_CLOEXEC | O_NONBLOCK;
    const int fd = int(syscall(SYS_userfaultfd, flags));
    if (fd >= 0)
        return fd;
    const int why = errno;
    const int device = open("/dev/userfaultfd", O_RDWR | O_CLOEXEC);
    if (device < 0) {
        errno = why;
        return -1;
    }
    const int other = ioctl(device, new_userfault, flags);
    close(device);
    return other;
}

// Since Linux 6.18 a part that moved at the second try (the first: EAGAIN) is not counted: the
// kernel tries it a third time, and then says that it exists (move_pages() in mm/userfaultfd.c
// does not forget the first try's error).  Gives the bytes that have left, and are there.
uint64_t moved_unsaid(uint64_t to, uint64_t from, uint64_t bytes) {
    const int fd = open("/proc/self/pagemap", O_RDONLY | O_CLOEXEC);
    const auto has = [&](uint64_t address) { // a page, or a place in swap
        uint64_t entry = 0;
        return pread(fd, &entry, sizeof entry, off_t(address / page_bytes * sizeof entry)) ==
                   sizeof entry &&
               entry >> 62 != 0;
    };
    uint64_t done = 0;
    while (fd >= 0 && done < bytes && has(to + done) && !has(from + done))
        done += page_bytes;
    if (fd >= 0)
        close(fd);
    return done;
}

} // namespace

int Userfault::open(Userfault &to) {
    const int fd = get();
    if (fd < 0)
        return errno;
    uffdio_api api{};
    api.api = UFFD_API;
    api.features = UFFD_FEATURE_EVENT_FORK | UFFD_FEATURE_EVENT_REMAP | UFFD_FEATURE_EVENT_REMOVE |
                   UFFD_FEATURE_EVENT_UNMAP | feature_move | feature_protect_async;
    if (ioctl(fd, UFFDIO_API, &api) != 0) {
        const int why = errno;
        close(fd);
        return why;
    }
    to.fd_ = fd;
    return 0;
}

bool Userfault::watch(uint64_t from, uint64_t to) const {
    uffdio_register request{};
    request.range = {from, to - from};
    // Nothing is ever protected: PAGEMAP_SCAN tells the mode, and so what is watched.
    request.mode = UFFDIO_REGISTER_MODE_MISSING | UFFDIO_REGISTER_MODE_WP;
    return ioctl(fd_, UFFDIO_REGISTER, &request) == 0;
}

void Userfault::unwatch(uint64_t from, uint64_t to) const {
    uffdio_range range{from, to - from};
    ioctl(fd_, UFFDIO_UNREGISTER, &range);
}

uint64_t Userfault::move(uint64_t to, uint64_t from, uint64_t bytes, bool wakes) const {
    uint64_t done = 0, most = bytes;
    while (done < bytes) {
        const uint64_t now = most < bytes - done ? most : bytes - done;
        MoveRequest request{to + done, from + done, now, wakes ? 0 : move_does_not_wake, 0};
        errno = 0;
        if (ioctl(fd_, move_request, &request) == 0) {
            done += now;
            continue;
        }
        const int why = errno;
        const uint64_t more = why == EEXIST ? moved_unsaid(to + done, from + done, now) : 0;
        if (request.moved > 0) {
            done += uint64_t(request.moved);
        } else if (why == EINVAL && now > page_bytes) {
            most = page_bytes; // more than one mapping, perhaps
        } else if (more > 0) {
            if (wakes)
                wake(to + done, more);
            done += more;
        } else {
            errno = why;
            break;
        }
    }
    return done;
}

uint64_t Userfault::copy(uint64_t to, const void *from, uint64_t bytes) const {
    uint64_t done = 0;
    while (done < bytes) {
        uffdio_copy request{};
        request.dst = to + done;
        request.src = reinterpret_cast<uint64_t>(from) + done;
        request.len = bytes - done;
        errno = 0;
        if (ioctl(fd_, UFFDIO_COPY, &request) == 0)
            return bytes;
        if (request.copy <= 0)
            break;
        done += uint64_t(request.copy);
    }
    return done;
}

void Userfault::wake(uint64_t from, uint64_t bytes) const {
    uffdio_range range{from, bytes};
    ioctl(fd_, UFFDIO_WAKE, &range);
}

} // namespace tc
