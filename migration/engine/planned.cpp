// See planned.h.  Told before the engine begins, perhaps: the first malloc is early.
#include "planned.h"
#include <atomic>

namespace tc {
namespace {

struct Ranges {                        // one after the other, of equal size
    std::atomic<uint64_t> start, last; // of the last: its number
    std::atomic<unsigned> shift;
} ranges;

} // namespace

Planned planned_place(uint64_t address) {
    const uint64_t last = ranges.last.load(std::memory_order_acquire);
    const uint64_t number = (address - ranges.start.load(std::memory_order_relaxed)) >>
                            ranges.shift.load(std::memory_order_relaxed);
    if (last == 0 || number > last)
        return Planned::nothing;
    return number == 0 ? Planned::near : number == last ? Planned::far : Planned::nothing;
}

} // namespace tc

extern "C" void tc_migrate_tiers(uint64_t start, unsigned shift, unsigned tiers) {
    tc::ranges.start.store(start, std::memory_order_relaxed);
    tc::ranges.shift.store(shift, std::memory_order_relaxed);
    tc::ranges.last.store(tiers - 1, std::memory_order_release);
}
