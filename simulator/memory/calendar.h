// What the screening model reserves: the slots of a resource that serves one thing at a time, in
// any order.  A later request may take an earlier slot that is still free, as a controller that
// reorders would let it.
#pragma once
#include "simulator/memory/divider.h"
#include "simulator/time.h"
#include <algorithm>
#include <bit>
#include <cstdint>
#include <vector>

namespace thermocline {

using Cycle = uint64_t;

// A set of slots in a window that slides forward.
class SlotSet {
  public:
    explicit SlotSet(uint64_t window) : words_(std::bit_ceil(window / 64 + 2)) {}

    uint64_t from() const { return from_; }
    uint64_t size() const { return size_; }
    bool fits(uint64_t slot) const { return slot < from_ + 64 * (words_.size() - 1); }
    void add(uint64_t slot) {
        word(slot) |= uint64_t(1) << (slot & 63);
        size_++;
    }
    // The first slot from one on that is not in the set; within the window.
    uint64_t first_free(uint64_t slot) const {
        for (uint64_t mask = ~uint64_t(0) << (slot & 63);; mask = ~uint64_t(0)) {
            const uint64_t free = ~word(slot) & mask;
            if (free != 0)
                return (slot & ~uint64_t(63)) + uint64_t(std::countr_zero(free));
            slot = (slot | 63) + 1;
            if (!fits(slot))
                return slot;
        }
    }
    // The first in the set; it is not empty.
    uint64_t first() const {
        uint64_t slot = from_;
        for (uint64_t mask = ~uint64_t(0) << (slot & 63);; mask = ~uint64_t(0)) {
            if (const uint64_t found = word(slot) & mask; found != 0)
                return (slot & ~uint64_t(63)) + uint64_t(std::countr_zero(found));
            slot = (slot | 63) + 1;
        }
    }
    // Takes the first out of it; it is not empty.
    uint64_t take_first() {
        const uint64_t slot = first();
        word(slot) &= word(slot) - 1;
        from_ = slot + 1; // once: storing it twice costs a load of both members a stall
        size_--;
        return slot;
    }
    // The window moves: slots before are out of it.
    void drop_before(uint64_t slot) {
        if (slot <= from_)
            return;
        while (size_ != 0 && (from_ >> 6) != (slot >> 6)) {
            drop(from_, ~uint64_t(0));
            from_ = (from_ | 63) + 1;
        }
        from_ = slot;
        drop(slot, (uint64_t(1) << (slot & 63)) - 1);
    }

  private:
    void drop(uint64_t slot, uint64_t mask) {
        uint64_t &bits = word(slot);
        for (uint64_t gone = bits & mask; gone != 0; gone &= gone - 1) // few
            size_--;
        bits &= ~mask;
    }
    uint64_t &word(uint64_t slot) { return words_[slot >> 6 & (words_.size() - 1)]; }
    const uint64_t &word(uint64_t slot) const { return words_[slot >> 6 & (words_.size() - 1)]; }
    std::vector<uint64_t> words_;
    uint64_t from_ = 0, size_ = 0;
};

// Slots of a number of quarter cycles each.
class Calendar {
  public:
    Calendar(uint64_t quarters, uint64_t window)
        : divider_(quarters),
          shift_(std::has_single_bit(quarters) ? std::countr_zero(quarters) : 0), taken_(window) {}

    uint64_t slot_at(Cycle cycle) const {
        return shift_ != 0 ? cycle * 4 >> shift_ : divider_.divide(cycle * 4);
    }
    Cycle start(uint64_t slot) const { return slot * divider_.by() / 4; }
    // Takes the first free slot from a cycle on: when it can start.
    Cycle reserve(Cycle from) {
        const uint64_t wanted = slot_at(from);
        slot_ = taken_.first_free(wanted > taken_.from() ? wanted : taken_.from());
        has_taken_ = taken_.fits(slot_);
        if (has_taken_)
            taken_.add(slot_);
        return slot_ == wanted ? from : std::max(from, start(slot_));
    }
    uint64_t last_slot() const { return slot_; }  // that reserve() took
    bool has_taken() const { return has_taken_; } // not if it is beyond the window
    void forget_before(Cycle cycle) { taken_.drop_before(slot_at(cycle)); }

  private:
    Divider divider_;
    int shift_; // for powers of two; every width is at least 4
    SlotSet taken_;
    uint64_t slot_ = 0;
    bool has_taken_ = false;
};

} // namespace thermocline
