// Mappings of the policies' ranges.
#include "range.h"
#include "failure.h"
#include "policies.h"
#include <cerrno>
#include <cstdint>
#include <sys/mman.h>
#include <unistd.h>

namespace tc {
namespace {

constexpr size_t huge = size_t(2) << 20;
// Each block may be a mapping, of which a process has 65,530.
constexpr size_t usual_blocks = 4096, most_blocks = 16384;

char *bound(char *start, size_t bytes, NodePolicy &policy) {
    if (set_node_policy(start, bytes, policy))
        return start;
    failure() << "the kernel refuses to bind a range to its nodes: " << because(errno);
    return nullptr;
}

} // namespace

size_t whole_pages(size_t bytes) {
    const size_t page = static_cast<size_t>(sysconf(_SC_PAGESIZE));
    return (bytes + page - 1) & ~(page - 1);
}

bool divide_into_blocks(size_t bytes, size_t asked, Blocks &blocks) {
    if (bytes == 0 || bytes > SIZE_MAX / 4) {
        failure() << "a range has 1 to " << uint64_t(SIZE_MAX / 4) << " bytes, not "
                  << uint64_t(bytes);
        return false;
    }
    size_t block = asked;
    for (block = asked ? asked : huge; !asked && bytes / block >= usual_blocks;)
        block *= 2;
    if (whole_pages(block) != block) {
        failure() << "blocks are whole pages, not " << uint64_t(block) << " bytes";
        return false;
    }
    blocks = {bytes, block, (bytes - 1) / block + 1};
    if (blocks.count <= most_blocks)
        return true;
    failure() << uint64_t(blocks.count) << " blocks are more than " << uint64_t(most_blocks)
              << ": make block_bytes larger";
    return false;
}

char *reserve_range(size_t bytes) {
    const size_t mapped = whole_pages(bytes), more = mapped >= huge ? huge : 0;
    void *p = mmap(nullptr, mapped + more, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (p == MAP_FAILED) {
        failure() << "no address space for " << uint64_t(bytes >> 20) << " MiB: " << because(errno);
        return nullptr;
    }
    char *start = static_cast<char *>(p), *end = start + mapped + more;
    char *aligned = start + (more ? -reinterpret_cast<uintptr_t>(start) & (huge - 1) : 0);
    if (aligned != start)
        munmap(start, static_cast<size_t>(aligned - start));
    if (aligned + mapped != end)
        munmap(aligned + mapped, static_cast<size_t>(end - aligned) - mapped);
    return aligned;
}

void release_range(void *start, size_t bytes) { munmap(start, whole_pages(bytes)); }

static char *open_range(size_t bytes) {
    char *start = reserve_range(bytes);
    if (!start || mprotect(start, whole_pages(bytes), PROT_READ | PROT_WRITE) == 0)
        return start;
    failure() << "no memory for " << uint64_t(bytes >> 20) << " MiB: " << because(errno);
    release_range(start, bytes);
    return nullptr;
}

char *map_blocks(const Blocks &blocks, NodePolicy *policies,
                 unsigned (*policy_of)(size_t block, const void *how), const void *how) {
    char *start = open_range(blocks.bytes);
    if (!start)
        return nullptr;
    const size_t mapped = whole_pages(blocks.bytes);
    for (size_t first = 0, end; first < blocks.count; first = end) {
        const unsigned policy = policy_of(first, how);
        for (end = first + 1; end < blocks.count && policy_of(end, how) == policy;)
            end++;
        const size_t at = first * blocks.block;
        const size_t bytes = end == blocks.count ? mapped - at : (end - first) * blocks.block;
        if (!bound(start + at, bytes, policies[policy])) {
            release_range(start, blocks.bytes);
            return nullptr;
        }
    }
    return start;
}

char *map_whole(size_t bytes, NodePolicy &policy) {
    char *start = open_range(bytes);
    if (start && !bound(start, whole_pages(bytes), policy)) {
        release_range(start, bytes);
        return nullptr;
    }
    return start;
}

} // namespace tc

extern "C" void tc_policy_free(void *start, size_t bytes) {
    if (start)
        tc::release_range(start, bytes);
}
