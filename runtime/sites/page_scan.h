// Which pages of a range are resident, by the best means that the kernel offers.
#pragma once
#include <cstddef>
#include <cstdint>

// Called with runs of resident pages, in ascending order.
using ResidentRun = void (*)(void *context, uintptr_t from, uintptr_t to);

// PAGEMAP_SCAN (Linux 6.7), or reading the page map, both of which leave the kernel's shared page
// of zeroes out as far as they can, or else mincore.  `pagemap` is a descriptor of
// /proc/self/pagemap; -1: mincore, the only one that needs none.  False if the range could not be
// read.
bool scan_resident(int pagemap, uintptr_t from, uintptr_t to, ResidentRun run, void *context);

// Where a scan found pages, in bytes.
uint64_t resident_bytes(int pagemap, uintptr_t from, uintptr_t to);
