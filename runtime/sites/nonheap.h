// Resident bytes of what is not heap: stacks, the modules' data, other mappings.
#pragma once
#include <cstdint>

struct NonHeapBytes {
    uint64_t stack, globals, other;
};

enum class MappingKind : uint8_t { stack, globals, other };

// Each mapping of the process that is not code, not the runtime's library and not the profiled
// heap, ascending; the runtime's own memory is among them, as "other".  False if they could not
// be read.
bool nonheap_mappings(void (*each)(void *context, uintptr_t from, uintptr_t to, MappingKind),
                      void *context);

// Reads /proc/self/maps; needs a descriptor of /proc/self/pagemap.  Left out: code, the runtime's
// own memory, the profiled heap.  Stacks are the main thread's and those that threads allocated
// from; the rest count as other.
NonHeapBytes nonheap_resident(int pagemap);
