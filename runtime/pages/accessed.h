// Which parts of the profiled heap were accessed since the last look, read or written: the
// processor's accessed bits, cleared by /proc/self/clear_refs and summed for each mapping by
// /proc/self/smaps.
//
// To have sums by site, the mappings are split where the owner of a large piece changes, by advice
// that alternates and that anonymous memory hardly heeds (MADV_RANDOM).
#pragma once
#include <cstdint>

namespace tc::pages {

bool accessed_start(); // false when there is no memory for its tables

// Clears the bits, and splits what has changed.  False if the kernel does not let us.
bool accessed_begin();

// Called with each mapping of the heap, and how many of its bytes were accessed since.
using AccessedMapping = void (*)(void *context, uintptr_t from, uintptr_t to, uint64_t bytes);
bool accessed_read(AccessedMapping, void *context);

} // namespace tc::pages
