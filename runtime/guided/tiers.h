// The tiers' address ranges: one per tier, reserved once, bound once, never moved.
#pragma once
#include "config.h"

namespace tc {

struct TierRanges {
    uintptr_t start; // of tier 0's; the others follow without a gap
    unsigned shift;  // log2 of each range's bytes
    unsigned count;  // 0: not a guided run
    int arena[max_tiers];
    uintptr_t used[max_tiers]; // bytes from the range's start that were ever committed
};
extern TierRanges ranges;

// The tier whose range holds p, or ranges.count and more: none.
inline uintptr_t tier_of(const void *p) {
    return (reinterpret_cast<uintptr_t>(p) - ranges.start) >> ranges.shift;
}

inline char *range_start(unsigned tier) {
    return reinterpret_cast<char *>(ranges.start + (uintptr_t(tier) << ranges.shift));
}

// Reserves and binds what the configuration asks for.  Null, or what went wrong.
const char *start_tiers(const Config &);

// Pages of [start, start + bytes) that are touched from now on prefer the tier's nodes.
bool prefer_tier(void *start, size_t bytes, unsigned tier);

// Everything of the calling thread, and of those it will start, that is in no range.
bool prefer_tier_for_thread(unsigned tier);

// Is the tier bound to nodes that this process may use?
bool is_bound(unsigned tier);

// The tier that a node belongs to; `otherwise` where that is not clear.
unsigned tier_of_node(unsigned node, unsigned otherwise);

} // namespace tc
