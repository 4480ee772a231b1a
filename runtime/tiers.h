// The tiers' address ranges: one per tier, reserved once, bound once, never moved.
#pragma once
#include "config.h"

namespace tc {

struct TierRanges {
    uintptr_t start; // of tier 0's; the others follow without a gap
    unsigned shift;  // log2 of each range's bytes
    unsigned count;  // 0: not a guided run
    int arena[max_tiers];
};
extern TierRanges ranges;

// The tier whose range holds p, or ranges.count and more: none.
inline uintptr_t tier_of(const void *p) {
    return (reinterpret_cast<uintptr_t>(p) - ranges.start) >> ranges.shift;
}

// Reserve and bind what the configuration asks for; a message where that fails.
const char *start_tiers(const Config &);

} // namespace tc
