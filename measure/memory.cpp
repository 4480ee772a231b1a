#include "measure/memory.h"
#include <algorithm>
#include <cerrno>
#include <cinttypes>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <fcntl.h>
#include <linux/mempolicy.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace measure {
namespace {

constexpr size_t page = 4096;
constexpr unsigned max_nodes = 1024;

size_t rounded(size_t bytes) { return (bytes + huge_page - 1) / huge_page * huge_page; }

[[noreturn]] void refuse(const std::string &what) { throw Refused(what + ": " + strerror(errno)); }

void bind_block(char *start, size_t bytes, unsigned node) {
    unsigned long mask[max_nodes / 64] = {};
    if (node >= max_nodes)
        throw Refused("there is no node " + std::to_string(node));
    mask[node / 64] |= 1ul << node % 64;
    // The kernel takes one bit less than it is told.
    if (syscall(SYS_mbind, start, bytes, MPOL_BIND, mask, max_nodes + 1ul, 0ul) == 0)
        return;
    if (errno == EPERM)
        throw Refused("the kernel forbids mbind here (in a container, allow it with "
                      "--cap-add SYS_NICE)");
    refuse("memory can't be bound to node " + std::to_string(node));
}

// A file without a name, so that nothing is left of it whatever happens.
int unnamed_file(const std::string &directory, size_t bytes) {
    const int fd = open(directory.c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
    if (fd < 0)
        refuse("no file can be made in " + directory);
    const int problem = posix_fallocate(fd, 0, static_cast<off_t>(bytes));
    if (problem == 0)
        return fd;
    close(fd);
    errno = problem;
    refuse(directory + " has no room for what is measured");
}

} // namespace

Memory::Memory(const Source &source, size_t bytes) : bytes_(rounded(bytes)) {
    if (!source.directory.empty()) {
        map_file(source.directory);
    } else {
        mapped_bytes_ = bytes_ + huge_page;
        mapped_ = mmap(nullptr, mapped_bytes_, PROT_READ | PROT_WRITE,
                       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        if (mapped_ == MAP_FAILED)
            refuse("no memory to measure");
        const auto address = reinterpret_cast<uintptr_t>(mapped_);
        start_ = static_cast<char *>(mapped_) + (huge_page - address % huge_page) % huge_page;
        // Refused by kernels that have no such pages: huge_share says what came of it.
        madvise(start_, bytes_, source.pages == Pages::huge ? MADV_HUGEPAGE : MADV_NOHUGEPAGE);
        try {
            bind(source.nodes);
        } catch (...) {
            munmap(mapped_, mapped_bytes_);
            throw;
        }
    }
    touch();
    if (source.directory.empty())
        check(source.nodes);
}

Memory::~Memory() { munmap(mapped_, mapped_bytes_); }

void Memory::map_file(const std::string &directory) {
    const int fd = unnamed_file(directory, bytes_);
    mapped_bytes_ = bytes_;
    const int access = PROT_READ | PROT_WRITE;
    mapped_ = mmap(nullptr, bytes_, access, MAP_SHARED_VALIDATE | MAP_SYNC, fd, 0);
    dax_ = mapped_ != MAP_FAILED;
    if (!dax_)
        mapped_ = mmap(nullptr, bytes_, access, MAP_SHARED, fd, 0);
    const int problem = errno;
    close(fd);
    errno = problem;
    if (mapped_ == MAP_FAILED)
        refuse("a file in " + directory + " can't be mapped");
    start_ = static_cast<char *>(mapped_);
}

void Memory::bind(const std::vector<NodeShare> &nodes) {
    if (nodes.empty())
        return;
    unsigned turn = 0;
    for (const NodeShare &each : nodes)
        turn += each.weight;
    if (turn == 0)
        throw Refused("the nodes' weights add up to nothing");
    if (nodes.size() == 1)
        return bind_block(start_, bytes_, nodes[0].node);
    for (size_t at = 0; at < bytes_; at += huge_page) {
        size_t left = at / huge_page % turn;
        auto owner = nodes.begin();
        while (left >= owner->weight)
            left -= owner++->weight;
        bind_block(start_ + at, huge_page, owner->node);
    }
}

void Memory::touch() {
    for (size_t at = 0; at < bytes_; at += page)
        start_[at] = 1;
}

// Where pages really are is the kernel's word.
void Memory::check(const std::vector<NodeShare> &nodes) const {
    for (size_t at = 0; at < bytes_; at += std::max(huge_page, bytes_ / 64 / page * page)) {
        void *address = start_ + at;
        int node = -1;
        if (syscall(SYS_move_pages, 0, 1ul, &address, nullptr, &node, 0) != 0 || nodes.empty())
            return; // the kernel has no NUMA, or any node will do
        if (std::none_of(nodes.begin(), nodes.end(), [&](const NodeShare &each) {
                return static_cast<int>(each.node) == node;
            }))
            throw Refused("memory for node " + std::to_string(nodes[0].node) + " came from node " +
                          std::to_string(node));
    }
}

double Memory::huge_share() const {
    std::FILE *file = std::fopen("/proc/self/smaps", "re");
    if (!file)
        return 0;
    const auto first = reinterpret_cast<uintptr_t>(start_);
    uintptr_t low = 0, high = 0;
    size_t kib = 0, huge = 0;
    char line[512];
    while (std::fgets(line, sizeof line, file)) {
        if (std::sscanf(line, "%" SCNxPTR "-%" SCNxPTR " ", &low, &high) == 2)
            continue;
        const bool ours = low < first + bytes_ && high > first;
        if (ours && (std::sscanf(line, "AnonHugePages: %zu", &kib) == 1 ||
                     std::sscanf(line, "FilePmdMapped: %zu", &kib) == 1 ||
                     std::sscanf(line, "ShmemPmdMapped: %zu", &kib) == 1))
            huge += kib * 1024;
    }
    std::fclose(file);
    return std::min(1.0, static_cast<double>(huge) / static_cast<double>(bytes_));
}

} // namespace measure
