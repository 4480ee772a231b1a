// The profiling heap: every page belongs to one site, or every block on it is tagged.
//
// All of it lives in one reserved address range, so that "is this block ours" is a
// subtraction and a comparison, and "whose is this address" a table lookup.  No headers
// in or between the program's blocks.  docs/profiling-heap.md has the design.
#pragma once
#include <cstddef>
#include <cstdint>

namespace tc {
struct Config;
}

// Reserves the range.  False if there is no address space for it: the caller then runs
// without a profile.  Neither allocates nor starts a thread.
bool site_heap_reserve();

// site_heap_reserve, then what watches the heap: sampler and profile writer (profile.cpp).
// Null, or what went wrong.
const char *site_heap_start(const tc::Config &);

// Null when memory is out (the caller sets errno).  `align` is 0 or a power of two; anything up
// to 16 is the ordinary alignment.  Sites are process-wide numbers, from 1; 0: none is known.
void *site_heap_malloc(uint32_t site, size_t size, size_t align, bool zero);
// `block` is not null.  A block of another site moves.  On failure it stays as it was.
void *site_heap_realloc(uint32_t site, void *block, size_t size);
void site_heap_free(void *block);
size_t site_heap_usable(const void *block);

// The same where it takes no more than a look: null, or false and nothing done, where it does.
// Inlined when the library is linked: the entries cannot include <atomic>, which declares malloc.
void *site_heap_try_malloc(uint32_t site, size_t size, bool zero) noexcept;
bool site_heap_try_free(void *block) noexcept;

// What follows is here only to be inlined.
struct SiteHeapRange {
    uintptr_t base;
    uintptr_t bytes;  // 0 until reserved, so that nothing is contained
    uint32_t *owners; // one per unit: the site, or one of the marks below
};
extern SiteHeapRange site_heap_range;

constexpr unsigned site_heap_unit_shift = 16;
constexpr uint32_t site_heap_tagged = 1u << 31;  // many sites: ask the block's tag
constexpr uint32_t site_heap_medium = 1u << 30;  // the span's first unit is at a multiple of 8
constexpr uint32_t site_heap_unknown = 1u << 29; // a block of no site
constexpr uint32_t site_heap_site_mask = site_heap_unknown - 1;

uint32_t site_heap_tag_of(uintptr_t offset);

inline bool site_heap_contains(const void *p) {
    return reinterpret_cast<uintptr_t>(p) - site_heap_range.base < site_heap_range.bytes;
}

// The site that owns an address, in constant time, without a lock, from any thread.  0 when the
// address is not ours or lies in no block's span.
inline uint32_t tc_owner_of(uintptr_t address) {
    uintptr_t offset = address - site_heap_range.base;
    if (offset >= site_heap_range.bytes)
        return 0;
    uint32_t owner =
        __atomic_load_n(&site_heap_range.owners[offset >> site_heap_unit_shift], __ATOMIC_RELAXED);
    if (owner & site_heap_tagged)
        return site_heap_tag_of(offset);
    return owner & site_heap_site_mask;
}
