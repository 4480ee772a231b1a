// The address ranges: one for each class, reserved once, bound once, never moved.
#pragma once
#include "config.h"

namespace tc {

constexpr unsigned chunk_shift = 16;
constexpr size_t chunk_bytes = size_t(1) << chunk_shift; // all of one tier
constexpr size_t huge_page_bytes = size_t(2) << 20;

struct Ranges {
    uintptr_t start; // of class 0's; the others follow without a gap
    unsigned shift;  // log2 of each range's bytes
    unsigned count;  // of classes; 0: not a guided run
    unsigned tiers;  // the first of the classes
    int arena[max_classes];
    uintptr_t used[max_classes]; // bytes from the range's start that were ever committed
    // Of a split class: the end of each tier's part of 2^32.
    uint64_t share_ends[max_classes][max_tiers];
    bool spread[max_classes]; // pages go round the nodes of a tier
    bool huge[max_classes];   // advised to lie in pages of 2 MiB
};
extern Ranges ranges;

// The class whose range holds p, or ranges.count and more: none.
inline uintptr_t class_of(const void *p) {
    return (reinterpret_cast<uintptr_t>(p) - ranges.start) >> ranges.shift;
}

inline char *range_start(unsigned number) {
    return reinterpret_cast<char *>(ranges.start + (uintptr_t(number) << ranges.shift));
}

// The tier where the plan wants p's chunk, p being in the range of this class.
//
// A split class's chunks are dealt by their place in the range alone: multiples of the golden
// ratio lie evenly in any run of neighbours, so that each large block has its shares (Knuth, The
// Art of Computer Programming, volume 3, section 6.4).  Each change of tier is a mapping of its
// own, of which a process may have some 65,000: from 32 MiB on, twice as far into the range
// neighbouring chunks are dealt in groups of twice as many, 256 groups each time.
//
// Always inlined, since some who ask are compiled without vector registers and must stay so.
[[gnu::always_inline]] inline unsigned wanted_tier(unsigned number, const void *p) {
    if (number < ranges.tiers)
        return number;
    const uintptr_t offset = reinterpret_cast<uintptr_t>(p) - ranges.start;
    const uintptr_t chunk = (offset & ((uintptr_t(1) << ranges.shift) - 1)) >> chunk_shift;
    const int group = chunk < 512 ? 0 : 55 - __builtin_clzl(chunk);
    const uint32_t turn = static_cast<uint32_t>(chunk >> group) * 0x9e3779b9u;
    unsigned tier = 0;
    while (turn >= ranges.share_ends[number][tier])
        tier++;
    return tier;
}

// The tier whose policy a class's range has until a chunk needs another: the tier itself, or
// the last that has a share.
inline unsigned base_tier(unsigned number) {
    if (number < ranges.tiers)
        return number;
    const uint64_t *ends = ranges.share_ends[number];
    unsigned tier = ranges.tiers - 1;
    while (tier > 0 && ends[tier - 1] == ends[tier])
        tier--;
    return tier;
}

// Where a class goes on when its range is full.
inline unsigned next_tier(unsigned number) {
    return number < ranges.tiers ? number + 1 : base_tier(number);
}

// Reserves and binds what the configuration asks for.  Null, or what went wrong.
const char *start_tiers(const Config &);

// The kernel's memory policy for each tier, within what the process's cpuset allows.
void make_policies(const Config &);

// Pages of [start, start + bytes) that are touched from now on prefer the tier's nodes; they go
// round them if start is in the range of a class that is spread.
bool prefer_tier(void *start, size_t bytes, unsigned tier);

// The same, and pages that are there move, as far as the tier has room.
bool move_to_tier(void *start, size_t bytes, unsigned tier);

// Everything of the calling thread, and of those it will start, that is in no range.
bool prefer_tier_for_thread(unsigned tier);

// Is the tier bound to nodes that this process may use?
bool is_bound(unsigned tier);

// The tier that a node belongs to; `otherwise` where that is not clear.
unsigned tier_of_node(unsigned node, unsigned otherwise);

} // namespace tc
