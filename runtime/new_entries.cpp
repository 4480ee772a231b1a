// The annotated forms of operator new.
//
// Out of memory is the C++ library's affair: its own operator new is called, and runs the
// new_handler or throws.  The same call serves a program that replaced operator new: the
// real one runs, and what it takes from malloc belongs to the site.
#include "abi.h"
#include "library_new.h"
#include "runtime.h"
#include "sites_mode.h"

#define LIKELY(x) __builtin_expect(!!(x), 1)
#define UNLIKELY(x) __builtin_expect(!!(x), 0)
#define CALLER __builtin_return_address(0)
#define TAIL_CALL [[clang::musttail]]

namespace tc {
namespace {

inline mi_heap_t *heap_of(const tc_site *site) {
    return thread.new_heaps[__atomic_load_n(&site->placement, __ATOMIC_RELAXED)];
}

void *take_from(mi_heap_t *heap, NewForm form, size_t size, size_t align, const void *nothrow,
                tc_site *site, const void *caller) {
    void *p = heap != ALLOC_EMPTY_HEAP && align <= ALLOC_ALIGN_MAX
                  ? alloc_block(heap, size, align, false)
                  : nullptr;
    if (!LIKELY(p))
        p = allocate({site, caller, size, align, false, true});
    return LIKELY(p != nullptr) ? p : library_new(form, size, align, nothrow, site);
}
inline void *take(NewForm form, size_t size, size_t align, const void *nothrow, tc_site *site,
                  const void *caller) {
    return take_from(heap_of(site), form, size, align, nothrow, site, caller);
}

inline void *try_small(size_t size, tc_site *site) {
    mi_heap_t *heap = heap_of(site);
    return LIKELY(size - 9 <= ALLOC_SMALL_MAX - 9) ? alloc_try_small(heap, size) : nullptr;
}

// Jumped to with the entry's own arguments, as in entries.cpp.
template <NewForm form> __attribute__((noinline)) void *slowest(size_t size, tc_site *site) {
    return take(form, size, 0, nullptr, site, CALLER);
}
// From the profiling heap, in a function of its own so that it needs no frame.
template <NewForm form> __attribute__((noinline)) void *without_heap(size_t size, tc_site *site) {
    if (!state.new_replaced)
        if (void *p = site_heap_quick_block(site->id, size, false); LIKELY(p))
            return p;
    TAIL_CALL return slowest<form>(size, site);
}
template <NewForm form> __attribute__((noinline)) void *slow(size_t size, tc_site *site) {
    mi_heap_t *heap = heap_of(site);
    if (UNLIKELY(heap == ALLOC_EMPTY_HEAP))
        TAIL_CALL return without_heap<form>(size, site);
    return take_from(heap, form, size, 0, nullptr, site, CALLER);
}
template <NewForm form> __attribute__((noinline)) void *smallest(size_t size, tc_site *site) {
    if (size < 9)
        if (void *p = alloc_try_small(heap_of(site), 16); LIKELY(p))
            return p;
    TAIL_CALL return slow<form>(size, site);
}
template <NewForm form>
__attribute__((noinline)) void *nothrow_slow(size_t size, const void *nothrow, tc_site *site) {
    return take(form, size, 0, nothrow, site, CALLER);
}

} // namespace
} // namespace tc

using namespace tc;

extern "C" {

void *tc_new(size_t size, tc_site *site) {
    if (void *p = try_small(size, site); LIKELY(p))
        return p;
    TAIL_CALL return smallest<NewForm::plain>(size, site);
}
void *tc_new_array(size_t size, tc_site *site) {
    if (void *p = try_small(size, site); LIKELY(p))
        return p;
    TAIL_CALL return smallest<NewForm::array>(size, site);
}
void *tc_new_nothrow(size_t size, const void *nothrow, tc_site *site) {
    if (void *p = try_small(size, site); LIKELY(p))
        return p;
    TAIL_CALL return nothrow_slow<NewForm::nothrow>(size, nothrow, site);
}
void *tc_new_array_nothrow(size_t size, const void *nothrow, tc_site *site) {
    if (void *p = try_small(size, site); LIKELY(p))
        return p;
    TAIL_CALL return nothrow_slow<NewForm::array_nothrow>(size, nothrow, site);
}
void *tc_new_aligned(size_t size, size_t align, tc_site *site) {
    return take(NewForm::aligned, size, align, nullptr, site, CALLER);
}
void *tc_new_array_aligned(size_t size, size_t align, tc_site *site) {
    return take(NewForm::array_aligned, size, align, nullptr, site, CALLER);
}
void *tc_new_aligned_nothrow(size_t size, size_t align, const void *nothrow, tc_site *site) {
    return take(NewForm::aligned_nothrow, size, align, nothrow, site, CALLER);
}
void *tc_new_array_aligned_nothrow(size_t size, size_t align, const void *nothrow, tc_site *site) {
    return take(NewForm::array_aligned_nothrow, size, align, nothrow, site, CALLER);
}

} // extern "C"
