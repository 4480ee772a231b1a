// The profiling heap (site_heap.h) behind names of its own, or its absence in a library
// built without it.
#pragma once
#include "runtime.h"

#ifdef THERMOCLINE_SITE_HEAP
#include "recording.h"
#include "site_heap.h"
#include "watch.h"
#include <cerrno>

namespace tc {

inline bool in_site_heap(const void *p) { return site_heap_contains(p); }
inline const char *start_site_heap(const Config &config) { return site_heap_start(config); }
// A recorded trace has blocks of some size.
inline bool is_told(const void *p) {
    return trace_streams() && p && site_heap_usable(p) >= trace_least_block;
}
// Null, or false, where it takes more than a look.  A recorded trace is told of every block.
inline void *site_heap_quick_block(uint32_t site, size_t size, bool zero) {
    return site && !trace_streams() ? site_heap_try_malloc(site, size, zero) : nullptr;
}
inline bool site_heap_quick_release(void *p) { return !trace_streams() && site_heap_try_free(p); }
inline void *site_heap_block(uint32_t site, const Request &request) {
    void *p =
        site_heap_malloc(site, request.size, request.align ? request.align : 16, request.zero);
    if (is_told(p))
        stream_allocated(p, request.size, site);
    return p;
}
inline void *site_heap_resized(uint32_t site, void *p, size_t size) {
    if (is_told(p))
        stream_released(p);
    void *fresh = site_heap_realloc(site, p, size);
    if (!fresh)
        errno = ENOMEM;
    if (is_told(fresh))
        stream_allocated(fresh, size, site);
    return fresh;
}
inline void site_heap_release(void *p) {
    if (is_told(p))
        stream_released(p);
    site_heap_free(p);
}
inline size_t site_heap_room(const void *p) { return site_heap_usable(p); }
inline void finish_profile() { watch_leave(); }

} // namespace tc

#else

namespace tc {

inline bool in_site_heap(const void *) { return false; }
inline void *site_heap_quick_block(uint32_t, size_t, bool) { return nullptr; }
inline bool site_heap_quick_release(void *) { return false; }
inline const char *start_site_heap(const Config &) {
    return "this library was built without the profiling heap";
}
inline void *site_heap_block(uint32_t, const Request &) { return nullptr; }
inline void *site_heap_resized(uint32_t, void *, size_t) { return nullptr; }
inline void site_heap_release(void *) {}
inline size_t site_heap_room(const void *) { return 0; }
inline void finish_profile() {}

} // namespace tc

#endif
