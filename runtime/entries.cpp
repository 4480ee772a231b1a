// The entries: malloc and its family, and their annotated forms.  The fast path of each
// is a load from the thread's heap table and mimalloc's own fast path; everything else
// is in runtime.cpp.
//
// This file is compiled with exceptions on, since bad_alloc passes through tc_new.
#include "abi.h"
#include "aside.h"
#include "callpath/call_path.h"
#include "runtime.h"
#include "sites_mode.h"
#include "tiers.h"
#include <cerrno>
#include <cstring>

#define LIKELY(x) __builtin_expect(!!(x), 1)
#define UNLIKELY(x) __builtin_expect(!!(x), 0)
#define CALLER __builtin_return_address(0)
// With the frame that the call path begins at: only in what an entry jumps to or is itself.
#define CALLER_WITH_FRAME Caller(CALLER, static_cast<const CallFrame *>(__builtin_frame_address(0)))
#define TAIL_CALL [[clang::musttail]]

namespace tc {
namespace {

inline mi_heap_t *heap_of(const tc_site *site) {
    return thread.heaps[site ? __atomic_load_n(&site->placement, __ATOMIC_RELAXED)
                             : uint32_t(placement_unannotated)];
}

inline bool is_small(size_t size) { return LIKELY(size - 9 <= ALLOC_SMALL_MAX - 9); }

// From the profiling heap, where no heap of mimalloc's is ever there; null if it is not on, or the
// site takes a look.
inline void *look_in_site_heap(size_t size, bool zero, const tc_site *site) {
    if (!site)
        site = thread.carried;
    return site ? site_heap_quick_block(site->id, size, zero) : nullptr;
}
// Not inlined, so that the other heaps' way past it saves no registers for it.
__attribute__((noinline)) void *from_site_heap(size_t size, bool zero, const tc_site *site) {
    return look_in_site_heap(size, zero, site);
}

// From the thread's heap for the site; null if that is not there yet, or has nothing.
inline void *from_heap(size_t size, bool zero, tc_site *site) {
    mi_heap_t *heap = heap_of(site);
    return LIKELY(heap != ALLOC_EMPTY_HEAP) ? alloc_block(heap, size, 0, zero)
                                            : from_site_heap(size, zero, site);
}

// The fast path's blocks begin at 9 bytes, which saves all others a test.  Strings are often as
// short (four of five of gawk's): they are looked for next, and still without a frame.
inline void *from_smallest(size_t size, tc_site *site) {
    return size < 9 ? alloc_try_small(heap_of(site), 16) : nullptr;
}

// Where the fast path found nothing: the heap has to look further, or is not there yet.
void *take(size_t size, bool zero, tc_site *site, Caller caller) {
    if (void *p = from_heap(size, zero, site); LIKELY(p))
        return p;
    return allocate({site, caller, size, 0, zero, false});
}

// Jumped to with the entry's own arguments, so that the entry keeps no frame and the return
// address is still its caller's.
__attribute__((noinline)) void *malloc_slow(size_t size) {
    return take(size, false, nullptr, CALLER_WITH_FRAME);
}
__attribute__((noinline)) void *tc_malloc_slowest(size_t size, tc_site *site) {
    return allocate({site, CALLER, size, 0, false, false});
}
// Apart, so that it needs no frame.
__attribute__((noinline)) void *tc_malloc_without_heap(size_t size, tc_site *site) {
    if (void *p = look_in_site_heap(size, false, site); LIKELY(p))
        return p;
    TAIL_CALL return tc_malloc_slowest(size, site);
}
__attribute__((noinline)) void *tc_malloc_slow(size_t size, tc_site *site) {
    mi_heap_t *heap = heap_of(site);
    if (UNLIKELY(heap == ALLOC_EMPTY_HEAP))
        TAIL_CALL return tc_malloc_without_heap(size, site);
    if (void *p = alloc_block(heap, size, 0, false); LIKELY(p))
        return p;
    return allocate({site, CALLER, size, 0, false, false});
}
__attribute__((noinline)) void *malloc_smallest(size_t size) {
    if (void *p = from_smallest(size, nullptr); LIKELY(p))
        return p;
    TAIL_CALL return malloc_slow(size);
}
__attribute__((noinline)) void *tc_malloc_smallest(size_t size, tc_site *site) {
    if (void *p = from_smallest(size, site); LIKELY(p))
        return p;
    TAIL_CALL return tc_malloc_slow(size, site);
}

inline bool is_power_of_two(size_t n) { return n != 0 && (n & (n - 1)) == 0; }

void *out_of_memory() {
    errno = ENOMEM;
    return nullptr;
}

inline void *aligned(size_t align, size_t size, tc_site *site, Caller caller) {
    mi_heap_t *heap = heap_of(site);
    if (LIKELY(heap != ALLOC_EMPTY_HEAP && align <= ALLOC_ALIGN_MAX))
        if (void *p = alloc_block(heap, size, align, false); LIKELY(p))
            return p;
    return allocate({site, caller, size, align, false, false});
}

void *checked_aligned(size_t align, size_t size, tc_site *site, Caller caller) {
    if (!is_power_of_two(align)) {
        errno = EINVAL;
        return nullptr;
    }
    return aligned(align, size, site, caller);
}

// memalign rounds a wrong alignment up, as glibc's does.
void *rounded_aligned(size_t align, size_t size, tc_site *site, Caller caller) {
    if (align > SIZE_MAX / 2 + 1) {
        errno = EINVAL;
        return nullptr;
    }
    size_t power = 16;
    while (power < align)
        power <<= 1;
    return aligned(power, size, site, caller);
}

int posix_aligned(void **out, size_t align, size_t size, tc_site *site, Caller caller) {
    if (!is_power_of_two(align) || align % sizeof(void *) != 0)
        return EINVAL;
    const int saved = errno; // posix_memalign must not set it
    void *p = aligned(align, size, site, caller);
    errno = saved;
    if (!p)
        return ENOMEM;
    *out = p;
    return 0;
}

constexpr size_t page_bytes = 4096;

void *whole_pages(size_t size, tc_site *site, Caller caller) {
    if (size > SIZE_MAX - page_bytes)
        return out_of_memory();
    const size_t rounded = (size + page_bytes - 1) & ~(page_bytes - 1);
    return aligned(page_bytes, rounded, site, caller);
}

void *cleared(size_t count, size_t each, tc_site *site, Caller caller) {
    size_t size;
    if (__builtin_mul_overflow(count, each, &size))
        return out_of_memory();
    return take(size, true, site, caller);
}
__attribute__((noinline)) void *calloc_slow(size_t count, size_t each) {
    return cleared(count, each, nullptr, CALLER_WITH_FRAME);
}
__attribute__((noinline)) void *tc_calloc_slow(size_t count, size_t each, tc_site *site) {
    return cleared(count, each, site, CALLER);
}

// Null is a multiple of the segment size, so one test finds both.
inline bool is_special(const void *p) {
    return (reinterpret_cast<uintptr_t>(p) & (ALLOC_SEGMENT_BYTES - 1)) == 0;
}

// Every block that is not special is mimalloc's: no site heap, and no other malloc.
bool all_is_mimallocs;

// As mimalloc's own realloc, but in the site's class; null if that takes more than a look.
inline void *moved(void *p, size_t size, tc_site *site) {
    mi_heap_t *heap = heap_of(site);
    if (!all_is_mimallocs || is_special(p) || size == 0 || heap == ALLOC_EMPTY_HEAP)
        return nullptr;
    if (ranges.count > 0) {
        if (!site) // its class is not known here
            return nullptr;
        if (class_of(p) !=
            __atomic_load_n(&site->placement, __ATOMIC_RELAXED) - placement_first_class)
            return nullptr;
    }
    const size_t old = alloc_usable(p);
    if (size <= old && size >= old / 2)
        return p;
    void *fresh = alloc_block(heap, size, 0, false);
    if (LIKELY(fresh)) {
        memcpy(fresh, p, old < size ? old : size);
        alloc_free(p);
    }
    return fresh;
}

inline void *resized_quickly(void *p, size_t size, tc_site *site) {
    // Null: how Lua and others allocate everything.
    return p ? moved(p, size, site) : from_heap(size, false, site);
}
inline void *resized(void *p, size_t size, tc_site *site, Caller caller) {
    if (void *block = resized_quickly(p, size, site); LIKELY(block))
        return block;
    return reallocate(p, {site, caller, size, 0, false, false});
}
__attribute__((noinline)) void *realloc_slow(void *p, size_t size) {
    return reallocate(p, {nullptr, CALLER_WITH_FRAME, size, 0, false, false});
}

void free_anything(void *p) {
    if (in_site_heap(p)) {
        if (UNLIKELY(!site_heap_quick_release(p)))
            release(p);
        return;
    }
    if (UNLIKELY(is_special(p)))
        return release(p);
    alloc_free(p);
}

void free_without_sites(void *p) {
    if (UNLIKELY(is_special(p)))
        return release(p);
    alloc_free(p);
}

void (*free_routine)(void *) = free_anything;

} // namespace

void leave_sites_out() {
    free_routine = free_without_sites;
    all_is_mimallocs = !state.stepped_aside;
}

} // namespace tc

using namespace tc;

extern "C" {

// ---- malloc and its family -------------------------------------------------------

void *malloc(size_t size) {
    if (is_small(size))
        if (void *p = alloc_try_small(thread.heaps[placement_unannotated], size); LIKELY(p))
            return p;
    TAIL_CALL return malloc_smallest(size);
}

void free(void *p) { free_routine(p); }
void cfree(void *p) { free(p); }

void *calloc(size_t count, size_t each) {
    size_t size;
    if (!__builtin_mul_overflow(count, each, &size) && is_small(size))
        if (void *p = alloc_try_small_zero(thread.heaps[placement_unannotated], size); LIKELY(p))
            return p;
    TAIL_CALL return calloc_slow(count, each);
}

void *realloc(void *p, size_t size) {
    if (void *block = resized_quickly(p, size, nullptr); LIKELY(block))
        return block;
    TAIL_CALL return realloc_slow(p, size);
}

void *reallocarray(void *p, size_t count, size_t each) {
    size_t size;
    if (__builtin_mul_overflow(count, each, &size))
        return out_of_memory();
    if (start() && state.stepped_aside)
        return foreign_reallocate(p, size); // as glibc's goes to the realloc that there is
    return resized(p, size, nullptr, CALLER_WITH_FRAME);
}

int posix_memalign(void **out, size_t align, size_t size) {
    return posix_aligned(out, align, size, nullptr, CALLER_WITH_FRAME);
}
void *aligned_alloc(size_t align, size_t size) {
    return checked_aligned(align, size, nullptr, CALLER_WITH_FRAME);
}
void *memalign(size_t align, size_t size) {
    return rounded_aligned(align, size, nullptr, CALLER_WITH_FRAME);
}
void *valloc(size_t size) { return aligned(page_bytes, size, nullptr, CALLER_WITH_FRAME); }
void *pvalloc(size_t size) { return whole_pages(size, nullptr, CALLER_WITH_FRAME); }

size_t malloc_usable_size(void *p) { return p ? usable(p) : 0; }

// ---- the annotated forms ---------------------------------------------------------

void *tc_malloc(size_t size, tc_site *site) {
    mi_heap_t *heap = thread.heaps[__atomic_load_n(&site->placement, __ATOMIC_RELAXED)];
    if (is_small(size))
        if (void *p = alloc_try_small(heap, size); LIKELY(p))
            return p;
    TAIL_CALL return tc_malloc_smallest(size, site);
}

void *tc_calloc(size_t count, size_t each, tc_site *site) {
    mi_heap_t *heap = thread.heaps[__atomic_load_n(&site->placement, __ATOMIC_RELAXED)];
    size_t size;
    if (!__builtin_mul_overflow(count, each, &size) && is_small(size))
        if (void *p = alloc_try_small_zero(heap, size); LIKELY(p))
            return p;
    TAIL_CALL return tc_calloc_slow(count, each, site);
}

void *tc_realloc(void *p, size_t size, tc_site *site) { return resized(p, size, site, CALLER); }

void *tc_reallocarray(void *p, size_t count, size_t each, tc_site *site) {
    size_t size;
    if (__builtin_mul_overflow(count, each, &size))
        return out_of_memory();
    return resized(p, size, site, CALLER);
}

int tc_posix_memalign(void **out, size_t align, size_t size, tc_site *site) {
    return posix_aligned(out, align, size, site, CALLER);
}
void *tc_aligned_alloc(size_t align, size_t size, tc_site *site) {
    return checked_aligned(align, size, site, CALLER);
}
void *tc_memalign(size_t align, size_t size, tc_site *site) {
    return rounded_aligned(align, size, site, CALLER);
}
void *tc_valloc(size_t size, tc_site *site) { return aligned(page_bytes, size, site, CALLER); }
void *tc_pvalloc(size_t size, tc_site *site) { return whole_pages(size, site, CALLER); }

tc_site *tc_carry(tc_site *site) {
    Thread &t = thread;
    tc_site *old = t.carried;
    t.carried = site;
    t.heaps[placement_unannotated] = site ? heap_of(site) : t.unannotated;
    return old;
}

} // extern "C"
