// Capacity: how much of the classes' ranges may lie in each tier.
//
// The allocator commits memory in chunks of 64 KiB before anyone can touch it, and each
// chunk is granted to the first tier, from the one where the plan wants it on, that still has
// room; where that is not its range's own tier, the chunk's policy is changed at that moment.  So
// no more than the capacity is ever resident under a tier's policy: an exact upper bound, with no
// sampling.  A grant is given back when the allocator gives the chunk back to the kernel.
#pragma once
#include "config.h"
#include "tiers.h"

namespace tc {

// After start_tiers.  False if its table cannot be had.
bool start_capacity(const Config &);

// Are chunks granted at all?  Some tier has a limit, or some class is split.
bool grants_chunks();

// The tier that the chunk around p was granted to; `otherwise` where none was.
unsigned granted_tier(const void *p, unsigned otherwise);

struct CapacityState {
    uint64_t granted[max_tiers]; // bytes, now
    uint64_t peak[max_tiers];
    uint64_t spilled[max_tiers]; // wanted in this tier, granted to a later one, now
    uint64_t spilled_peak[max_tiers];
};
extern CapacityState capacity;

} // namespace tc
