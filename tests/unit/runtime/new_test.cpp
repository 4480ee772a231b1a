// The annotated forms of operator new: failure is the C++ library's affair.
#include "annotated.h"
#include "check.h"
#include <cstdint>
#include <new>

namespace {

volatile size_t huge = SIZE_MAX / 2;
int handled;

void give_up_after_three() {
    if (++handled == 3)
        std::set_new_handler(nullptr);
}

template <typename Call> bool throws_bad_alloc(Call call) {
    try {
        call();
    } catch (const std::bad_alloc &) {
        return true;
    }
    return false;
}

} // namespace

TEST(all_forms) {
    AnnotatedModule module("m", {"m!f@f.cc:1"});
    tc_site *site = module[0];
    const std::nothrow_t *nothrow = &std::nothrow;
    for (int round = 0; round < 3; round++)
        for (size_t size : {0u, 1u, 8u, 100u, 100000u, 40000000u}) {
            operator delete(tc_new(size, site));
            operator delete[](tc_new_array(size, site));
            operator delete(tc_new_nothrow(size, nothrow, site));
            operator delete[](tc_new_array_nothrow(size, nothrow, site));
            const std::align_val_t align{128};
            void *p = tc_new_aligned(size, 128, site);
            expect_eq(reinterpret_cast<uintptr_t>(p) % 128, 0u);
            operator delete(p, align);
            operator delete[](tc_new_array_aligned(size, 128, site), align);
            operator delete(tc_new_aligned_nothrow(size, 128, nothrow, site), align);
            operator delete[](tc_new_array_aligned_nothrow(size, 128, nothrow, site), align);
        }
}

TEST(out_of_memory) {
    AnnotatedModule module("m", {"m!f@f.cc:1"});
    tc_site *site = module[0];
    expect_true(throws_bad_alloc([&] { tc_new(huge, site); }));
    expect_true(throws_bad_alloc([&] { tc_new_array(huge, site); }));
    expect_true(throws_bad_alloc([&] { tc_new_aligned(huge, 64, site); }));
    expect_true(throws_bad_alloc([&] { tc_new_array_aligned(huge, 64, site); }));
    expect_true(tc_new_nothrow(huge, &std::nothrow, site) == nullptr);
    expect_true(tc_new_array_nothrow(huge, &std::nothrow, site) == nullptr);
    expect_true(tc_new_aligned_nothrow(huge, 64, &std::nothrow, site) == nullptr);
    expect_true(tc_new_array_aligned_nothrow(huge, 64, &std::nothrow, site) == nullptr);
    // No site is left carried.
    expect_true(tc_carry(nullptr) == nullptr);
}

TEST(the_new_handler_is_called) {
    AnnotatedModule module("m", {"m!f@f.cc:1"});
    std::set_new_handler(give_up_after_three);
    expect_true(throws_bad_alloc([&] { tc_new(huge, module[0]); }));
    expect_eq(handled, 3);
}
