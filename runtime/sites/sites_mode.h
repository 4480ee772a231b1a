// The profiling heap (site_heap.h) behind names of its own, or its absence in a library
// built without it.
#pragma once
#include "runtime.h"

#ifdef THERMOCLINE_SITE_HEAP
#include "site_heap.h"
#include "watch.h"
#include <cerrno>

namespace tc {

inline bool in_site_heap(const void *p) { return site_heap_contains(p); }
inline bool start_site_heap(const Config &config) { return site_heap_start(config); }
inline void *site_heap_block(uint32_t site, const Request &request) {
    return site_heap_malloc(site, request.size, request.align ? request.align : 16, request.zero);
}
inline void *site_heap_resized(uint32_t site, void *p, size_t size) {
    void *fresh = site_heap_realloc(site, p, size);
    if (!fresh)
        errno = ENOMEM;
    return fresh;
}
inline void site_heap_release(void *p) { site_heap_free(p); }
inline size_t site_heap_room(const void *p) { return site_heap_usable(p); }
inline void finish_profile() { watch_leave(); }

} // namespace tc

#else

namespace tc {

inline bool in_site_heap(const void *) { return false; }
inline bool start_site_heap(const Config &) { return false; }
inline void *site_heap_block(uint32_t, const Request &) { return nullptr; }
inline void *site_heap_resized(uint32_t, void *, size_t) { return nullptr; }
inline void site_heap_release(void *) {}
inline size_t site_heap_room(const void *) { return 0; }
inline void finish_profile() {}

} // namespace tc

#endif
