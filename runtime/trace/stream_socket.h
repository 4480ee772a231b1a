// A connection to the trace's collector, by system calls of its own: no errno, no vector
// registers, no signal where the other end has gone.
#pragma once
#include <cstddef>
#include <cstdint>

namespace tc {

class StreamSocket {
  public:
    bool connect(const char *path);
    bool connect_again(); // after fork
    // False if the other end has gone, or the program closed or reused the descriptor.
    bool send(const void *, size_t bytes);
    void close();
    uint64_t now() const; // ns since connecting

  private:
    bool is_mine() const;

    char path_[108];
    int fd_ = -1;
    uint64_t inode_ = 0, device_ = 0;
    uint64_t begin_ = 0;
};

} // namespace tc
