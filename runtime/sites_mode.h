// The profiling heap (site_heap.h), or its absence in a library built without it.
#pragma once

#ifdef THERMOCLINE_SITE_HEAP
#include "site_heap.h"
namespace tc {
inline bool in_site_heap(const void *p) { return site_heap_contains(p); }
} // namespace tc
#else
namespace tc {
inline bool in_site_heap(const void *) { return false; }
} // namespace tc
#endif
