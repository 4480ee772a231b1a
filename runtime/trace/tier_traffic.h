// In which tier each page of a guided run is, for the traffic per tier.
#pragma once
#include <cstdint>

namespace tc {

struct Config;

// What tier_of_page has found out, by page of the tiers' ranges.
struct PageTiers {
    uintptr_t start;
    uint64_t pages; // 0: owners are sites
    uint8_t *tiers; // tier + 1, or 0: not known yet
};
extern PageTiers page_tiers;
constexpr unsigned page_tier_shift = 12;

// Tier + 1, or 0: tier_of_page has to say.  Inlined, since a call from code that uses wide
// vector registers costs a guided run six times this (it saves the narrow halves of all).
[[gnu::always_inline]] inline uint32_t known_tier(uintptr_t address) {
    uint64_t page = (address - page_tiers.start) >> page_tier_shift;
    return page < page_tiers.pages ? __atomic_load_n(&page_tiers.tiers[page], __ATOMIC_RELAXED) : 0;
}

// False: no guided heap, or no memory for the page map.
bool tier_traffic_start(const Config &);

// The tier of an address, found out when its page is first filled into a cache.
uint32_t tier_of_page(uintptr_t address);

// Pages went back to the kernel: their next touch is a first touch again.
void trace_pages_returned(const void *, uint64_t bytes);

} // namespace tc
