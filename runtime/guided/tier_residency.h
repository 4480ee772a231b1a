// How many bytes of each tier's range are resident, and in which tier they really are.
#pragma once
#include "config.h"

namespace tc {

struct TierResidency {
    uint64_t resident[max_tiers]; // bytes of any range that lie in the tier
    uint64_t
        spilled[max_tiers]; // bytes that the plan wants in the tier and that lie in a later one
};

// The kernel's word (/proc/self/numa_maps); where a tier is only modelled, the ranges and
// their grants.  False if there are no ranges.
bool measure_residency(TierResidency &);

} // namespace tc
