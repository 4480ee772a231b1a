// The calling thread's heaps: what the fast path of every entry reads.
#pragma once
#include "abi.h"
#include "allocator.h"
#include "config.h"

namespace tc {

// What tc_site::placement can say.
enum : uint32_t {
    placement_unresolved = 0,  // its heaps are always empty, so the slow path decides
    placement_unannotated = 1, // what malloc itself uses; never a site's
    placement_first_class = 2,
    placement_count = placement_first_class + max_classes
};

// A heap that is not there yet is ALLOC_EMPTY_HEAP.
struct Thread {
    mi_heap_t *heaps[placement_count];
    // The same for operator new; stays empty where the program brings its own, so that
    // the two never mix.
    mi_heap_t *new_heaps[placement_count];
    // heaps[placement_unannotated] while no site is carried.
    mi_heap_t *unannotated;
    tc_site *carried;
    bool in_start; // an allocation came in while this thread was starting the library
};

extern __thread Thread thread __attribute__((tls_model("initial-exec")));

} // namespace tc
