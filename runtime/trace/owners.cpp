// Whose an address is.  Compiled without vector registers, like recorder.cpp.
#include "owners.h"
#include "recorder.h"
#include "site_heap.h"
#include "tier_traffic.h"

namespace tc {

GlobalRanges *globals;

static bool in_globals(uintptr_t address) {
    const GlobalRanges *known = __atomic_load_n(&globals, __ATOMIC_ACQUIRE);
    if (!known)
        return false;
    uint32_t low = 0, high = known->count;
    while (low < high) {
        uint32_t middle = (low + high) / 2;
        if (address >= known->ranges[middle].high)
            low = middle + 1;
        else
            high = middle;
    }
    return low < known->count && address >= known->ranges[low].low;
}

static bool on_stack(const Recorder &r, uintptr_t address) {
    return address - r.stack_low < r.stack_high - r.stack_low;
}

uint32_t owner_of(const Recorder &r, uintptr_t address) {
    if (model.by_tier)
        return first_site_owner + tier_of_page(address);
    if (uint32_t site = tc_owner_of(address))
        return site <= max_owner - first_site_owner ? first_site_owner + site
                                                    : uint32_t(nonheap_other);
    if (on_stack(r, address))
        return nonheap_stack;
    if (in_globals(address))
        return nonheap_globals;
    for (const Recorder *other = __atomic_load_n(&model.recorders, __ATOMIC_ACQUIRE); other;
         other = other->next)
        if (on_stack(*other, address))
            return nonheap_stack;
    return nonheap_other;
}

} // namespace tc
