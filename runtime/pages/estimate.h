// What the pages say of each site, in bytes.
#pragma once
#include "trace/traffic.h"
#include <cstdint>

namespace tc {
class JsonFile;
}

namespace tc::pages {

bool estimate_start(); // false when there is no memory for its table

// Pages of the profiled heap that were written; each stands for `factor` of its like.
void add_written(uintptr_t from, uintptr_t to, double factor);
// A part of the heap of which so many bytes were accessed: its sites share them by their pages.
void add_accessed(uintptr_t from, uintptr_t to, uint64_t bytes);

// `looks_factor`: looks at written pages for each at accessed ones, so that both count alike.
void estimate_snapshot(Traffic *sites, uint32_t count, double looks_factor);
void put_estimate(JsonFile &, uint32_t site);

} // namespace tc::pages
