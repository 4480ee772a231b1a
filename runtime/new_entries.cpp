// The annotated forms of operator new.
//
// Out of memory is the C++ library's affair: its own operator new is called, and runs the
// new_handler or throws.  The same call serves a program that replaced operator new: the
// real one runs, and what it takes from malloc belongs to the site.
#include "abi.h"
#include "library_new.h"
#include "runtime.h"

#define LIKELY(x) __builtin_expect(!!(x), 1)

namespace tc {
namespace {

template <NewForm form>
inline __attribute__((always_inline)) void *make(size_t size, size_t align, const void *nothrow,
                                                 tc_site *site) {
    void *p = nullptr;
    mi_heap_t *heap = thread.new_heaps[__atomic_load_n(&site->placement, __ATOMIC_RELAXED)];
    if (LIKELY(heap && align <= ALLOC_ALIGN_MAX)) {
        if (LIKELY(align == 0 && size - 9 <= ALLOC_SMALL_MAX - 9))
            p = alloc_small(heap, size);
        else
            p = alloc_block(heap, size, align, false);
    } else {
        p = allocate({site, __builtin_return_address(0), size, align, false, true});
    }
    return LIKELY(p != nullptr) ? p : library_new(form, size, align, nothrow, site);
}

} // namespace
} // namespace tc

using namespace tc;

extern "C" {

void *tc_new(size_t size, tc_site *site) { return make<NewForm::plain>(size, 0, nullptr, site); }
void *tc_new_array(size_t size, tc_site *site) {
    return make<NewForm::array>(size, 0, nullptr, site);
}
void *tc_new_nothrow(size_t size, const void *nothrow, tc_site *site) {
    return make<NewForm::nothrow>(size, 0, nothrow, site);
}
void *tc_new_array_nothrow(size_t size, const void *nothrow, tc_site *site) {
    return make<NewForm::array_nothrow>(size, 0, nothrow, site);
}
void *tc_new_aligned(size_t size, size_t align, tc_site *site) {
    return make<NewForm::aligned>(size, align, nullptr, site);
}
void *tc_new_array_aligned(size_t size, size_t align, tc_site *site) {
    return make<NewForm::array_aligned>(size, align, nullptr, site);
}
void *tc_new_aligned_nothrow(size_t size, size_t align, const void *nothrow, tc_site *site) {
    return make<NewForm::aligned_nothrow>(size, align, nothrow, site);
}
void *tc_new_array_aligned_nothrow(size_t size, size_t align, const void *nothrow, tc_site *site) {
    return make<NewForm::array_aligned_nothrow>(size, align, nothrow, site);
}

} // extern "C"
