// In which tier each page of a guided run is, for the traffic per tier.
#pragma once
#include <cstdint>

namespace tc {

struct Config;

// False: no guided heap, or no memory for the page map.
bool tier_traffic_start(const Config &);

// The tier of an address, found out when its page is first filled into a cache.
uint32_t tier_of_page(uintptr_t address);

// Pages went back to the kernel: their next touch is a first touch again.
void trace_pages_returned(const void *, uint64_t bytes);

} // namespace tc
