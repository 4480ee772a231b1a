// The entries: malloc and its family, and their annotated forms.  The fast path of each
// is a load from the thread's heap table and mimalloc's own fast path; everything else
// is in runtime.cpp.
//
// This file is compiled with exceptions on, since bad_alloc passes through tc_new.
#include "abi.h"
#include "aside.h"
#include "runtime.h"
#include "sites_mode.h"
#include "tiers.h"
#include <cerrno>

#define LIKELY(x) __builtin_expect(!!(x), 1)
#define UNLIKELY(x) __builtin_expect(!!(x), 0)
#define CALLER __builtin_return_address(0)
#define TAIL_CALL [[clang::musttail]]

namespace tc {
namespace {

inline mi_heap_t *heap_of(const tc_site *site) {
    return thread.heaps[site ? __atomic_load_n(&site->placement, __ATOMIC_RELAXED)
                             : uint32_t(placement_unannotated)];
}

inline bool is_small(size_t size) { return LIKELY(size - 9 <= ALLOC_SMALL_MAX - 9); }

// From the thread's heap for the site; null if that is not there yet, or has nothing.
inline void *from_heap(size_t size, bool zero, tc_site *site) {
    mi_heap_t *heap = heap_of(site);
    return LIKELY(heap != ALLOC_EMPTY_HEAP) ? alloc_block(heap, size, 0, zero) : nullptr;
}

// Where the fast path found nothing: the heap has to look further, or is not there yet.
void *take(size_t size, bool zero, tc_site *site, const void *caller) {
    if (void *p = from_heap(size, zero, site); LIKELY(p))
        return p;
    return allocate({site, caller, size, 0, zero, false});
}

// Jumped to with the entry's own arguments, so that the entry keeps no frame and the return
// address is still its caller's.
__attribute__((noinline)) void *malloc_slow(size_t size) {
    return take(size, false, nullptr, CALLER);
}
__attribute__((noinline)) void *tc_malloc_slow(size_t size, tc_site *site) {
    return take(size, false, site, CALLER);
}

inline bool is_power_of_two(size_t n) { return n != 0 && (n & (n - 1)) == 0; }

void *out_of_memory() {
    errno = ENOMEM;
    return nullptr;
}

inline void *aligned(size_t align, size_t size, tc_site *site, const void *caller) {
    mi_heap_t *heap = heap_of(site);
    if (LIKELY(heap != ALLOC_EMPTY_HEAP && align <= ALLOC_ALIGN_MAX))
        if (void *p = alloc_block(heap, size, align, false); LIKELY(p))
            return p;
    return allocate({site, caller, size, align, false, false});
}

void *checked_aligned(size_t align, size_t size, tc_site *site, const void *caller) {
    if (!is_power_of_two(align)) {
        errno = EINVAL;
        return nullptr;
    }
    return aligned(align, size, site, caller);
}

// memalign rounds a wrong alignment up, as glibc's does.
void *rounded_aligned(size_t align, size_t size, tc_site *site, const void *caller) {
    if (align > SIZE_MAX / 2 + 1) {
        errno = EINVAL;
        return nullptr;
    }
    size_t power = 16;
    while (power < align)
        power <<= 1;
    return aligned(power, size, site, caller);
}

int posix_aligned(void **out, size_t align, size_t size, tc_site *site, const void *caller) {
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

void *whole_pages(size_t size, tc_site *site, const void *caller) {
    if (size > SIZE_MAX - page_bytes)
        return out_of_memory();
    const size_t rounded = (size + page_bytes - 1) & ~(page_bytes - 1);
    return aligned(page_bytes, rounded, site, caller);
}

void *cleared(size_t count, size_t each, tc_site *site, const void *caller) {
    size_t size;
    if (__builtin_mul_overflow(count, each, &size))
        return out_of_memory();
    return take(size, true, site, caller);
}
__attribute__((noinline)) void *calloc_slow(size_t count, size_t each) {
    return cleared(count, each, nullptr, CALLER);
}
__attribute__((noinline)) void *tc_calloc_slow(size_t count, size_t each, tc_site *site) {
    return cleared(count, each, site, CALLER);
}

inline void *resized(void *p, size_t size, tc_site *site, const void *caller) {
    if (!p) // how Lua and others allocate everything
        if (void *fresh = from_heap(size, false, site); LIKELY(fresh))
            return fresh;
    return reallocate(p, {site, caller, size, 0, false, false});
}

// Null is a multiple of the segment size, so one test finds both.
inline bool is_special(const void *p) {
    return (reinterpret_cast<uintptr_t>(p) & (ALLOC_SEGMENT_BYTES - 1)) == 0;
}

void free_anything(void *p) {
    if (UNLIKELY(is_special(p) || in_site_heap(p)))
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

void leave_sites_out() { free_routine = free_without_sites; }

} // namespace tc

using namespace tc;

extern "C" {

// ---- malloc and its family -------------------------------------------------------

void *malloc(size_t size) {
    if (is_small(size))
        if (void *p = alloc_try_small(thread.heaps[placement_unannotated], size); LIKELY(p))
            return p;
    TAIL_CALL return malloc_slow(size);
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

void *realloc(void *p, size_t size) { return resized(p, size, nullptr, CALLER); }

void *reallocarray(void *p, size_t count, size_t each) {
    size_t size;
    if (__builtin_mul_overflow(count, each, &size))
        return out_of_memory();
    if (start() && state.stepped_aside)
        return foreign_reallocate(p, size); // as glibc's goes to the realloc that there is
    return resized(p, size, nullptr, CALLER);
}

int posix_memalign(void **out, size_t align, size_t size) {
    return posix_aligned(out, align, size, nullptr, CALLER);
}
void *aligned_alloc(size_t align, size_t size) {
    return checked_aligned(align, size, nullptr, CALLER);
}
void *memalign(size_t align, size_t size) { return rounded_aligned(align, size, nullptr, CALLER); }
void *valloc(size_t size) { return aligned(page_bytes, size, nullptr, CALLER); }
void *pvalloc(size_t size) { return whole_pages(size, nullptr, CALLER); }

size_t malloc_usable_size(void *p) { return p ? usable(p) : 0; }

// ---- the annotated forms ---------------------------------------------------------

void *tc_malloc(size_t size, tc_site *site) {
    mi_heap_t *heap = thread.heaps[__atomic_load_n(&site->placement, __ATOMIC_RELAXED)];
    if (is_small(size))
        if (void *p = alloc_try_small(heap, size); LIKELY(p))
            return p;
    TAIL_CALL return tc_malloc_slow(size, site);
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
