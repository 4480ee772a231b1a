// The profiling heap's address range, handed out in units of 64 KiB.
#pragma once
#include "lock.h"
#include "site_heap.h"

constexpr size_t unit_bytes = size_t(1) << site_heap_unit_shift;
constexpr size_t no_unit = ~size_t(0);

bool units_reserve();

// `count` adjacent units that read as zero, the first at a multiple of `align` units, or no_unit.
size_t units_take(size_t count, size_t align);
// Gives their pages back to the kernel: residency stays honest.
void units_give(size_t first, size_t count);
// Takes the units right behind a run if they are free.
bool units_extend(size_t behind, size_t count);

// Units from the first up to the highest ever taken; what a scan has to look at.
size_t units_top();
size_t units_in_use();

inline void *unit_address(size_t unit) {
    return reinterpret_cast<void *>(site_heap_range.base + (unit << site_heap_unit_shift));
}
inline uint32_t unit_owner(size_t unit) {
    return __atomic_load_n(&site_heap_range.owners[unit], __ATOMIC_RELAXED);
}
// Called when units belong to a site or are tagged, before anybody touches them; may be null.
extern void (*units_owned)(size_t first, size_t count, uint32_t owner);

inline void set_unit_owners(size_t first, size_t count, uint32_t owner) {
    for (size_t unit = first; unit < first + count; ++unit)
        __atomic_store_n(&site_heap_range.owners[unit], owner, __ATOMIC_RELAXED);
    if (units_owned && owner)
        units_owned(first, count, owner);
}

extern tc::Lock units_lock; // for fork
