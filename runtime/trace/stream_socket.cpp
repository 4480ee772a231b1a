// See stream_socket.h.
#include "stream_socket.h"
#include "system_call.h"
#include <fcntl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <time.h>

namespace tc {

static uint64_t clock_ns() {
    timespec now{};
    system_call(SYS_clock_gettime, CLOCK_MONOTONIC, word(&now));
    return uint64_t(now.tv_sec) * 1000000000 + uint64_t(now.tv_nsec);
}

bool StreamSocket::connect(const char *path) {
    size_t length = 0;
    for (; path[length]; length++) {
        if (length + 1 >= sizeof path_)
            return false;
        path_[length] = path[length];
    }
    path_[length] = 0;
    begin_ = clock_ns();
    return connect_again();
}

bool StreamSocket::connect_again() {
    long fd = system_call(SYS_socket, AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (fd < 0)
        return false;
    // Out of the way of programs that expect the lowest numbers.
    constexpr long high = 900;
    if (long moved = system_call(SYS_fcntl, fd, F_DUPFD_CLOEXEC, high); moved >= 0) {
        system_call(SYS_close, fd);
        fd = moved;
    }
    fd_ = int(fd);
    sockaddr_un to{};
    to.sun_family = AF_UNIX;
    for (size_t i = 0; i < sizeof path_ && i < sizeof to.sun_path; i++)
        to.sun_path[i] = path_[i];
    struct stat mine{};
    if (system_call(SYS_connect, fd_, word(&to), sizeof to) != 0 ||
        system_call(SYS_fstat, fd_, word(&mine)) != 0) {
        close();
        return false;
    }
    inode_ = mine.st_ino;
    device_ = mine.st_dev;
    return true;
}

bool StreamSocket::is_mine() const {
    struct stat now;
    return fd_ >= 0 && system_call(SYS_fstat, fd_, word(&now)) == 0 && now.st_ino == inode_ &&
           now.st_dev == device_;
}

bool StreamSocket::send(const void *data, size_t bytes) {
    if (!is_mine()) {
        fd_ = -1; // whatever it is now, it is the program's
        return false;
    }
    const char *at = static_cast<const char *>(data);
    while (bytes > 0) {
        long sent = system_call(SYS_sendto, fd_, word(at), long(bytes), MSG_NOSIGNAL);
        if (sent == -4) // EINTR
            continue;
        if (sent <= 0)
            return false;
        at += sent;
        bytes -= size_t(sent);
    }
    return true;
}

void StreamSocket::close() {
    if (is_mine())
        system_call(SYS_close, fd_);
    fd_ = -1;
}

uint64_t StreamSocket::now() const { return clock_ns() - begin_; }

} // namespace tc
