// Residency by tier, without malloc.
#include "tier_residency.h"
#include "capacity.h"
#include "runtime.h"
#include "tiers.h"
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace tc {
namespace {

void add(TierResidency &sum, unsigned wanted, unsigned real, uint64_t bytes) {
    sum.resident[real] += bytes;
    if (real > wanted)
        sum.spilled[wanted] += bytes;
}

constexpr size_t page_bytes = 4096, step = 8 << 20; // of measure_chunks

// The chunks of a step that have pages in memory.
struct Chunks {
    unsigned count;
    void *first[step / chunk_bytes]; // of a chunk's pages in memory
    uint64_t bytes[step / chunk_bytes];
    int nodes[step / chunk_bytes];
};

bool find_chunks(char *start, size_t bytes, Chunks &chunks) {
    static unsigned char there[step / page_bytes];
    chunks.count = 0;
    if (mincore(start, bytes, there) != 0)
        return false;
    const void *last = nullptr;
    for (size_t at = 0; at < bytes; at += page_bytes) {
        if (!(there[at / page_bytes] & 1))
            continue;
        const void *chunk = start + at / chunk_bytes * chunk_bytes;
        if (chunk != last) {
            last = chunk;
            chunks.first[chunks.count] = start + at;
            chunks.nodes[chunks.count] = -1;
            chunks.bytes[chunks.count++] = 0;
        }
        chunks.bytes[chunks.count - 1] += page_bytes;
    }
    return chunks.count != 0;
}

// A class's range chunk by chunk: where each was granted, or if the tiers are bound, where the
// kernel has put the first of its pages.
void measure_chunks(unsigned number, bool bound, TierResidency &sum) {
    static Chunks chunks;
    char *const start = range_start(number);
    const size_t used = __atomic_load_n(&ranges.used[number], __ATOMIC_RELAXED);
    for (size_t at = 0; at < used; at += step) {
        if (!find_chunks(start + at, used - at < step ? used - at : step, chunks))
            continue;
        if (bound)
            syscall(SYS_move_pages, 0, chunks.count, chunks.first, nullptr, chunks.nodes, 0);
        for (unsigned i = 0; i < chunks.count; i++) {
            const unsigned wanted = wanted_tier(number, chunks.first[i]);
            const unsigned granted = granted_tier(chunks.first[i], wanted);
            const int node = chunks.nodes[i];
            add(sum, wanted,
                node < 0 ? granted : tier_of_node(static_cast<unsigned>(node), granted),
                chunks.bytes[i]);
        }
    }
}

uint64_t decimal(const char *&digit) {
    uint64_t value = 0;
    for (; *digit >= '0' && *digit <= '9'; digit++)
        value = value * 10 + static_cast<uint64_t>(*digit - '0');
    return value;
}

uintptr_t hexadecimal(const char *digit) {
    uintptr_t value = 0;
    for (;; digit++) {
        if (*digit >= '0' && *digit <= '9')
            value = value << 4 | static_cast<uintptr_t>(*digit - '0');
        else if (*digit >= 'a' && *digit <= 'f')
            value = value << 4 | static_cast<uintptr_t>(*digit - 'a' + 10);
        else
            return value;
    }
}

// A line of numa_maps: "ADDRESS POLICY ... N0=12 N3=4 kernelpagesize_kB=4".
void measure_line(const char *line, TierResidency &sum) {
    const void *address = reinterpret_cast<void *>(hexadecimal(line));
    if (class_of(address) >= ranges.tiers)
        return; // measure_chunks sees to those of split classes, whose wanted tiers vary
    const unsigned wanted = static_cast<unsigned>(class_of(address));
    uint64_t kilobytes = 4;
    if (const char *size = strstr(line, "kernelpagesize_kB=")) {
        size += strlen("kernelpagesize_kB=");
        kilobytes = decimal(size);
    }
    // Where several tiers share a node, the grant decides.
    const unsigned granted = granted_tier(address, wanted);
    for (const char *at = line; (at = strstr(at, " N")); at += 2) {
        const char *digit = at + 2;
        const uint64_t node = decimal(digit);
        if (digit == at + 2 || *digit++ != '=')
            continue;
        add(sum, wanted, tier_of_node(static_cast<unsigned>(node), granted),
            decimal(digit) * kilobytes << 10);
    }
}

bool measure_bound(TierResidency &sum) {
    const int fd = open("/proc/self/numa_maps", O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return false;
    static char text[16384];
    size_t used = 0;
    for (;;) {
        const ssize_t n = read(fd, text + used, sizeof text - 1 - used);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            break;
        used += static_cast<size_t>(n);
        text[used] = 0;
        char *line = text;
        for (char *end; (end = strchr(line, '\n')); line = end + 1) {
            *end = 0;
            measure_line(line, sum);
        }
        used = strlen(line);
        memmove(text, line, used);
        if (used == sizeof text - 1)
            used = 0; // a line longer than any of ours
    }
    close(fd);
    return true;
}

} // namespace

bool measure_residency(TierResidency &sum) {
    sum = TierResidency{};
    bool any_modelled = false;
    for (unsigned tier = 0; tier < ranges.tiers; tier++)
        any_modelled = any_modelled || state.config.tiers[tier].node_count == 0;
    const bool bound = !any_modelled && measure_bound(sum);
    for (unsigned number = bound ? ranges.tiers : 0; number < ranges.count; number++)
        measure_chunks(number, bound, sum);
    return ranges.count != 0;
}

} // namespace tc
