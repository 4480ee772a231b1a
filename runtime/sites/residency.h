// Resident bytes of each site, by sampling the kernel's page map.
#pragma once
#include "nonheap.h"
#include <atomic>
#include <cstddef>

struct SiteResidency {
    std::atomic<uint64_t> now, peak;
    uint64_t at_peak;     // at the sample with the largest sum over sites and non-heap data
    uint64_t first_touch; // a time of stats_now, not later than the first touch; 0: untouched
};

struct NonHeapResidency {
    NonHeapBytes now, peak, at_peak;
    uint64_t first_touch[3]; // stack, globals, other
};

// False when there is no memory for its tables.
bool residency_start();

// Takes a sample.  `pagemap` -1: by mincore, without the non-heap part, which stays as it was.
// Any thread; a call during another's does nothing.
void residency_sample(int pagemap);

const SiteResidency &residency_of(uint32_t site); // below site_limit
const NonHeapResidency &residency_outside();
uint64_t residency_peak(); // of the whole process, the runtime's own memory and code left out

void residency_restart_in_child();
