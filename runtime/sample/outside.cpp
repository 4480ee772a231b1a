// See outside.h.
#include "outside.h"
#include "nonheap.h"
#include "own_memory.h"
#include "runtime.h"

namespace tc::sample {
namespace {

constexpr uint32_t max_mappings = 60000; // the kernel's own limit is 65530
constexpr uint64_t rest = 100000000;     // ns between two readings

struct Mapping {
    uintptr_t from, to;
    NonHeap kind;
};
Mapping *mappings; // ascending, as the kernel lists them
uint32_t count;
uint64_t last_read; // 0: never

void add(void *, uintptr_t from, uintptr_t to, MappingKind kind) {
    if (count == max_mappings)
        return;
    mappings[count++] = {from, to,
                         kind == MappingKind::stack     ? nonheap_stack
                         : kind == MappingKind::globals ? nonheap_globals
                                                        : nonheap_other};
}

const Mapping *find(uintptr_t address) {
    uint32_t low = 0, high = count;
    while (low < high) {
        const uint32_t middle = (low + high) / 2;
        if (address >= mappings[middle].to)
            low = middle + 1;
        else
            high = middle;
    }
    return low < count && address >= mappings[low].from ? &mappings[low] : nullptr;
}

} // namespace

bool outside_start() {
    mappings = static_cast<Mapping *>(own_memory_map(max_mappings * sizeof(Mapping)));
    return mappings != nullptr;
}

NonHeap kind_outside(uintptr_t address) {
    const Mapping *mapping = find(address);
    if (!mapping) {
        const uint64_t now = nanoseconds();
        if (last_read && now - last_read < rest)
            return nonheap_other;
        last_read = now;
        count = 0;
        nonheap_mappings(add, nullptr);
        mapping = find(address);
    }
    return mapping ? mapping->kind : nonheap_other;
}

} // namespace tc::sample
