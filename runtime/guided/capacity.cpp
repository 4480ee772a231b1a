// Grants of chunks to tiers.  Called by the allocator around its commits (allocator.c).
#include "capacity.h"
#include "allocator.h"
#include "trace/tier_traffic.h"
#include <cstring>
#include <sys/mman.h>

namespace tc {

CapacityState capacity;

namespace {

bool granting;
uint64_t limit[max_tiers];
unsigned last_tier;

// Per chunk of all ranges: low half, the tier granted + 1 (0: none); high half, the tier
// whose policy the chunk has + 1 (0: its range's own).
uint8_t *chunks;

size_t chunk_of(const void *p) {
    return (reinterpret_cast<uintptr_t>(p) - ranges.start) / chunk_bytes;
}

void *start_of(size_t chunk) {
    return reinterpret_cast<void *>(ranges.start + chunk * chunk_bytes);
}

void raise(uint64_t &peak, uint64_t value) {
    uint64_t seen = __atomic_load_n(&peak, __ATOMIC_RELAXED);
    while (seen < value && !__atomic_compare_exchange_n(&peak, &seen, value, true, __ATOMIC_RELAXED,
                                                        __ATOMIC_RELAXED)) {
    }
}

bool take(unsigned tier, bool at_any_rate) {
    uint64_t &granted = capacity.granted[tier];
    uint64_t had = __atomic_load_n(&granted, __ATOMIC_RELAXED);
    do {
        if (limit[tier] && !at_any_rate && had + chunk_bytes > limit[tier])
            return false;
    } while (!__atomic_compare_exchange_n(&granted, &had, had + chunk_bytes, true, __ATOMIC_RELAXED,
                                          __ATOMIC_RELAXED));
    raise(capacity.peak[tier], had + chunk_bytes);
    return true;
}

// A run of chunks that need the same new policy.
struct Run {
    size_t first = 0, count = 0;
    unsigned tier = 0;
    void end() {
        if (count)
            prefer_tier(start_of(first), count * chunk_bytes, tier);
        count = 0;
    }
    void add(size_t chunk, unsigned to) {
        if (count && (to != tier || chunk != first + count))
            end();
        if (!count)
            first = chunk;
        tier = to;
        count++;
    }
};

void grant(size_t first, size_t end, unsigned number) {
    Run run;
    const unsigned base = base_tier(number);
    for (size_t chunk = first; chunk < end; chunk++) {
        if (chunks[chunk] & 15)
            continue; // still granted: it was never given back
        const unsigned wanted = wanted_tier(number, start_of(chunk));
        unsigned tier = wanted;
        while (!take(tier, tier == last_tier))
            tier++;
        const unsigned had = chunks[chunk] >> 4 ? (chunks[chunk] >> 4) - 1u : base;
        if (had != tier)
            run.add(chunk, tier);
        chunks[chunk] = static_cast<uint8_t>((tier + 1) << 4 | (tier + 1));
        if (tier != wanted)
            raise(capacity.spilled_peak[wanted],
                  __atomic_add_fetch(&capacity.spilled[wanted], chunk_bytes, __ATOMIC_RELAXED));
    }
    run.end();
}

void give_back(size_t first, size_t end, unsigned number) {
    for (size_t chunk = first; chunk < end; chunk++) {
        const unsigned tier = (chunks[chunk] & 15) - 1u;
        if (tier >= max_tiers)
            continue;
        chunks[chunk] &= 0xf0;
        __atomic_sub_fetch(&capacity.granted[tier], chunk_bytes, __ATOMIC_RELAXED);
        const unsigned wanted = wanted_tier(number, start_of(chunk));
        if (tier != wanted)
            __atomic_sub_fetch(&capacity.spilled[wanted], chunk_bytes, __ATOMIC_RELAXED);
    }
}

} // namespace

bool grants_chunks() { return granting; }

unsigned granted_tier(const void *p, unsigned otherwise) {
    if (!chunks || class_of(p) >= ranges.count)
        return otherwise;
    const unsigned tier = (chunks[chunk_of(p)] & 15) - 1u;
    return tier < max_tiers ? tier : otherwise;
}

bool start_capacity(const Config &config) {
    last_tier = config.tier_count - 1;
    granting = config.class_count > config.tier_count;
    for (unsigned tier = 0; tier < config.tier_count; tier++) {
        limit[tier] = config.tiers[tier].capacity;
        granting = granting || limit[tier];
    }
    if (!granting)
        return true;
    const size_t bytes = (size_t(ranges.count) << ranges.shift) / chunk_bytes;
    void *p = mmap(nullptr, bytes, PROT_READ | PROT_WRITE,
                   MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (p == MAP_FAILED)
        return granting = false;
    chunks = static_cast<uint8_t *>(p);
    alloc_commit_lazily();
    return true;
}

} // namespace tc

using namespace tc;

// A huge page is had only where the whole of it may be touched.
extern "C" size_t alloc_commit_unit(const void *start) {
    return class_of(start) < ranges.count && ranges.huge[class_of(start)] ? huge_page_bytes : 1;
}

extern "C" void alloc_commits(void *start, size_t bytes) {
    if (class_of(start) >= ranges.count)
        return;
    const unsigned number = static_cast<unsigned>(class_of(start));
    const uintptr_t end =
        static_cast<uintptr_t>(static_cast<char *>(start) + bytes - range_start(number));
    uintptr_t used = __atomic_load_n(&ranges.used[number], __ATOMIC_RELAXED);
    while (used < end && !__atomic_compare_exchange_n(&ranges.used[number], &used, end, true,
                                                      __ATOMIC_RELAXED, __ATOMIC_RELAXED)) {
    }
    if (granting)
        grant(chunk_of(start), chunk_of(static_cast<char *>(start) + bytes + chunk_bytes - 1),
              number);
}

extern "C" bool alloc_decommits(void *start, size_t bytes) {
    if (class_of(start) >= ranges.count)
        return false;
    trace_pages_returned(start, bytes);
    if (!granting)
        return false;
    // Only whole chunks: the rest of a chunk may still be in use.
    give_back(chunk_of(static_cast<char *>(start) + chunk_bytes - 1),
              chunk_of(static_cast<char *>(start) + bytes), static_cast<unsigned>(class_of(start)));
    return true;
}
