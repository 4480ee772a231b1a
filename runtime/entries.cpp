// The entries: malloc and its family, and their annotated forms.  The fast path of each
// is a load from the thread's heap table and mimalloc's own fast path; everything else
// is in runtime.cpp.
//
// This file is compiled with exceptions on, since bad_alloc passes through tc_new.
#include "abi.h"
#include "runtime.h"
#include "sites_mode.h"
#include "tiers.h"
#include <cerrno>

#define LIKELY(x) __builtin_expect(!!(x), 1)
#define UNLIKELY(x) __builtin_expect(!!(x), 0)
#define CALLER __builtin_return_address(0)

namespace tc {
namespace {

inline __attribute__((always_inline)) void *from_heap(mi_heap_t *heap, size_t size) {
    if (LIKELY(size - 9 <= ALLOC_SMALL_MAX - 9))
        return alloc_small(heap, size);
    return alloc_block(heap, size, 0, false);
}

inline __attribute__((always_inline)) void *zeroed_from_heap(mi_heap_t *heap, size_t size) {
    if (LIKELY(size - 9 <= ALLOC_SMALL_MAX - 9))
        return alloc_small_zero(heap, size);
    return alloc_block(heap, size, 0, true);
}

inline bool is_power_of_two(size_t n) { return n != 0 && (n & (n - 1)) == 0; }

void *out_of_memory() {
    errno = ENOMEM;
    return nullptr;
}

inline uint32_t placement_of(const tc_site *site) {
    return site ? __atomic_load_n(&site->placement, __ATOMIC_RELAXED) : placement_unannotated;
}

inline void *aligned(size_t align, size_t size, tc_site *site, const void *caller) {
    mi_heap_t *heap = thread.heaps[placement_of(site)];
    if (LIKELY(heap && align <= ALLOC_ALIGN_MAX))
        return alloc_block(heap, size, align, false);
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

inline void *cleared(size_t count, size_t each, tc_site *site, const void *caller) {
    size_t size;
    if (UNLIKELY(__builtin_mul_overflow(count, each, &size)))
        return out_of_memory();
    mi_heap_t *heap = thread.heaps[placement_of(site)];
    if (LIKELY(heap != nullptr))
        return zeroed_from_heap(heap, size);
    return allocate({site, caller, size, 0, true, false});
}

inline void *resized(void *p, size_t size, tc_site *site, const void *caller) {
    const Request request{site, caller, size, 0, false, false};
    if (!p) {
        mi_heap_t *heap = thread.heaps[placement_of(site)];
        return LIKELY(heap != nullptr) ? from_heap(heap, size) : allocate(request);
    }
    return reallocate(p, request);
}

} // namespace
} // namespace tc

using namespace tc;

extern "C" {

// ---- malloc and its family -------------------------------------------------------

void *malloc(size_t size) {
    mi_heap_t *heap = thread.heaps[placement_unannotated];
    if (LIKELY(heap != nullptr))
        return from_heap(heap, size);
    return allocate({nullptr, CALLER, size, 0, false, false});
}

void free(void *p) {
    // Null is a multiple of the segment size, so one test finds both.
    if (UNLIKELY(((uintptr_t)p & (ALLOC_SEGMENT_BYTES - 1)) == 0 || in_site_heap(p)))
        return release(p);
    alloc_free(p);
}

void cfree(void *p) { free(p); }

void *calloc(size_t count, size_t each) { return cleared(count, each, nullptr, CALLER); }
void *realloc(void *p, size_t size) { return resized(p, size, nullptr, CALLER); }

void *reallocarray(void *p, size_t count, size_t each) {
    size_t size;
    if (__builtin_mul_overflow(count, each, &size))
        return out_of_memory();
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
    if (LIKELY(heap != nullptr))
        return from_heap(heap, size);
    return allocate({site, CALLER, size, 0, false, false});
}

void *tc_calloc(size_t count, size_t each, tc_site *site) {
    return cleared(count, each, site, CALLER);
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
    t.heaps[placement_unannotated] = site ? t.heaps[placement_of(site)] : t.unannotated;
    return old;
}

} // extern "C"
