// Whose an address outside of the profiled heap is: a stack's, a module's data, other.
#pragma once
#include "trace/traffic.h"

namespace tc::sample {

bool outside_start(); // false when there is no memory for its table

// From the mappings as they were read last; they are read again when an address lies in none.
// One thread at a time.
NonHeap kind_outside(uintptr_t address);

} // namespace tc::sample
