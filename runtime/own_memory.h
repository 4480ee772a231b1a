// Memory for the runtime's own tables.
//
// One reserved range, handed out from the front and never given back, apart from the
// program's heaps: the profiler's tables must neither be charged to the program's
// resident set nor call its malloc.
#pragma once
#include <cstddef>
#include <cstdint>

// Zeroed, aligned to a page, ready to use.  Pages cost nothing until touched.  Null when out.
// Any thread, no lock once the first call has returned.
void *own_memory_map(size_t bytes);

// What it has given out so far lies in here; empty before the first call.
struct OwnMemory {
    uintptr_t from, to;
};
OwnMemory own_memory();

// Whether the caller's stack is in it, as the watching thread's is.
bool on_own_stack();
