// See log.h.
#include "log.h"
#include "own_memory.h"
#include "runtime.h"
#include "site_heap_range.h"

namespace tc::owners {
namespace {

constexpr uint64_t most = 1 << 22; // 128 MiB, touched as it fills
constexpr uint64_t line = 64;      // slots of tagged units are whole lines

Change *changes;
uint64_t taken, full_at;

void add(void *, const Change &change) {
    const uint64_t index = __atomic_fetch_add(&taken, 1, __ATOMIC_RELAXED);
    if (index >= most) {
        uint64_t nobody = 0;
        __atomic_compare_exchange_n(&full_at, &nobody, change.nanoseconds, false, __ATOMIC_RELAXED,
                                    __ATOMIC_RELAXED);
        return;
    }
    Change &to = changes[index];
    to.address = change.address;
    to.bytes = change.bytes;
    to.site = change.site;
    __atomic_store_n(&to.nanoseconds, change.nanoseconds, __ATOMIC_RELEASE);
}

// Calls for each stretch of one site in [from, to), which lie in the range.
void walk(uintptr_t from, uintptr_t to, void (*each)(void *, const Change &), void *context) {
    Change stretch = {nanoseconds(), from, 0, 0};
    while (from < to) {
        const size_t unit = (from - site_heap_range.base) >> site_heap_unit_shift;
        const bool tagged = unit_owner(unit) & site_heap_tagged;
        const uintptr_t end = reinterpret_cast<uintptr_t>(unit_address(unit + 1));
        const uint64_t step = tagged ? line : (end < to ? end : to) - from;
        const uint32_t site = tc_owner_of(from);
        if (site != stretch.site) {
            if (stretch.site)
                each(context, stretch);
            stretch = {stretch.nanoseconds, from, 0, site};
        }
        stretch.bytes += step;
        from += step;
    }
    if (stretch.site)
        each(context, stretch);
}

} // namespace

bool log_start() {
    changes = static_cast<Change *>(own_memory_map(most * sizeof(Change)));
    return changes != nullptr;
}

void log_release(const void *from, uint64_t bytes) {
    const uintptr_t address = reinterpret_cast<uintptr_t>(from);
    walk(address, address + bytes, add, nullptr);
}

uint64_t log_count() {
    const uint64_t count = __atomic_load_n(&taken, __ATOMIC_RELAXED);
    return count < most ? count : most;
}
const Change &log_entry(uint64_t index) { return changes[index]; }
uint64_t log_full_at() { return __atomic_load_n(&full_at, __ATOMIC_RELAXED); }

void each_owner(void (*each)(void *, const Change &), void *context) {
    walk(site_heap_range.base, reinterpret_cast<uintptr_t>(unit_address(units_top())), each,
         context);
}

} // namespace tc::owners
