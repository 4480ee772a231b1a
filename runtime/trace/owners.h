// Whose an address is: a site (or tier), or a kind of non-heap memory.
#pragma once
#include <cstdint>

namespace tc {

struct Recorder;

// Reads the loaded modules' writable segments anew: after start, dlopen and dlclose.
void owners_find_globals();
// The stack that the calling thread runs on.
void owners_find_stack(Recorder &);

struct AddressRange {
    uintptr_t low, high;
};
// Sorted, not overlapping.  Replaced whole, and never freed while threads may read it.
struct GlobalRanges {
    uint32_t count;
    AddressRange ranges[];
};
extern GlobalRanges *globals;

} // namespace tc
