// The operator new that the process resolves: the C++ library's, or the program's own.
#pragma once
#include "abi.h"

namespace tc {

enum class NewForm {
    plain,
    array,
    nothrow,
    array_nothrow,
    aligned,
    array_aligned,
    aligned_nothrow,
    array_aligned_nothrow,
    count
};

// Calls it, and what it takes from malloc belongs to the site.  Throws what it throws.
void *library_new(NewForm, size_t size, size_t align, const void *nothrow, tc_site *);

// Its address, null in a program without a C++ library.
const void *library_new_address(NewForm);

} // namespace tc
