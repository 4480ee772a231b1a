// Resident bytes of what is not heap: stacks, the modules' data, other mappings.
#pragma once
#include <cstdint>

struct NonHeapBytes {
    uint64_t stack, globals, other;
};

// Reads /proc/self/maps; needs a descriptor of /proc/self/pagemap.  Left out: code, the runtime's
// own memory, the profiled heap.  Stacks are the main thread's and those that threads allocated
// from; the rest count as other.
NonHeapBytes nonheap_resident(int pagemap);
