// How much of the huge classes' ranges lies in huge pages: the kernel's word.
#pragma once
#include <cstdint>

namespace tc {

struct HugePages {
    uint64_t resident, huge; // bytes
};

// Is there a class that asks for them?
bool wants_huge_pages();

// From /proc/self/smaps; zeroes if it can't be read.  Its buffers are static: one caller at a time.
HugePages measure_huge_pages();

} // namespace tc
