// Calls to the C++ library's operator new, by weak references: C programs have none.
//
// This file alone is compiled outside the LTO unit: only so does the assembler learn that
// the clean-up's personality routine is a weak reference too.
#include "library_new.h"

asm(".weak __gxx_personality_v0\n.weak _Unwind_Resume\n"
    ".weak __cxa_begin_catch\n.weak _ZSt9terminatev");

#define WEAK __attribute__((weak))
extern "C" {
WEAK void *_Znwm(size_t);
WEAK void *_Znam(size_t);
WEAK void *_ZnwmRKSt9nothrow_t(size_t, const void *);
WEAK void *_ZnamRKSt9nothrow_t(size_t, const void *);
WEAK void *_ZnwmSt11align_val_t(size_t, size_t);
WEAK void *_ZnamSt11align_val_t(size_t, size_t);
WEAK void *_ZnwmSt11align_val_tRKSt9nothrow_t(size_t, size_t, const void *);
WEAK void *_ZnamSt11align_val_tRKSt9nothrow_t(size_t, size_t, const void *);
}

namespace tc {
namespace {

// Ends the carrying also when an exception passes.
struct Carry {
    tc_site *old;
    explicit Carry(tc_site *site) : old(tc_carry(site)) {}
    ~Carry() { tc_carry(old); }
    Carry(const Carry &) = delete;
    Carry &operator=(const Carry &) = delete;
};

} // namespace

void *library_new(NewForm form, size_t size, size_t align, const void *nothrow, tc_site *site) {
    if (!library_new_address(form))
        return nullptr;
    Carry carry(site);
    switch (form) {
    case NewForm::plain:
        return _Znwm(size);
    case NewForm::array:
        return _Znam(size);
    case NewForm::nothrow:
        return _ZnwmRKSt9nothrow_t(size, nothrow);
    case NewForm::array_nothrow:
        return _ZnamRKSt9nothrow_t(size, nothrow);
    case NewForm::aligned:
        return _ZnwmSt11align_val_t(size, align);
    case NewForm::array_aligned:
        return _ZnamSt11align_val_t(size, align);
    case NewForm::aligned_nothrow:
        return _ZnwmSt11align_val_tRKSt9nothrow_t(size, align, nothrow);
    default:
        return _ZnamSt11align_val_tRKSt9nothrow_t(size, align, nothrow);
    }
}

const void *library_new_address(NewForm form) {
    switch (form) {
    case NewForm::plain:
        return reinterpret_cast<const void *>(&_Znwm);
    case NewForm::array:
        return reinterpret_cast<const void *>(&_Znam);
    case NewForm::nothrow:
        return reinterpret_cast<const void *>(&_ZnwmRKSt9nothrow_t);
    case NewForm::array_nothrow:
        return reinterpret_cast<const void *>(&_ZnamRKSt9nothrow_t);
    case NewForm::aligned:
        return reinterpret_cast<const void *>(&_ZnwmSt11align_val_t);
    case NewForm::array_aligned:
        return reinterpret_cast<const void *>(&_ZnamSt11align_val_t);
    case NewForm::aligned_nothrow:
        return reinterpret_cast<const void *>(&_ZnwmSt11align_val_tRKSt9nothrow_t);
    default:
        return reinterpret_cast<const void *>(&_ZnamSt11align_val_tRKSt9nothrow_t);
    }
}

} // namespace tc
