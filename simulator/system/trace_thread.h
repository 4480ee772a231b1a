// A thread of a trace as the source of a core's references.
#pragma once
#include "simulator/core/core.h"
#include "simulator/placement/placement.h"
#include "simulator/system/address_space.h"
#include "simulator/trace/dependences.h"
#include "simulator/trace/reader.h"

namespace thermocline {

class TraceThread {
  public:
    // `skip`: references to leave out first; `budget`: at most so many then, or 0: all.
    TraceThread(Cursor &cursor, const Tables &tables, Placement &placement, uint64_t skip,
                uint64_t budget)
        : cursor_(&cursor), resolver_(tables), placement_(&placement), skip_(skip),
          left_(budget ? budget : UINT64_MAX) {}

    // It is of one of several programs: its addresses, and owners from that one on, are that's.
    void share(AddressSpace &space, uint32_t first_owner) {
        space_ = &space;
        first_owner_ = first_owner;
    }

    bool next(Reference &reference, Producers &producers) {
        for (const Reference *record; left_ > 0 && (record = cursor_->next());) {
            producers.count = 0;
            resolver_.resolve(*record, [&](uint64_t distance) { add(producers, distance); });
            if (record->event != TraceEvent::reference) {
                if (record->event == TraceEvent::window_begin)
                    skipped_ += record->skipped();
                if (record->event == TraceEvent::returned)
                    give_back(record->address, record->allocated_bytes());
                continue;
            }
            if (skip_ > 0) {
                skip_--;
                continue;
            }
            left_--;
            reference = *record;
            if (space_) {
                reference.address = space_->map(reference.address);
                reference.owner += first_owner_;
            }
            return true;
        }
        return false;
    }

    uint64_t skipped() const { return skipped_; } // instructions that nobody recorded
    bool stopped() const { return left_ == 0; }   // by the budget, or by stop()
    void stop() { left_ = 0; }

  private:
    void give_back(uint64_t address, uint64_t bytes) {
        if (!space_)
            return placement_->give_back(address, bytes);
        space_->map(address, bytes,
                    [&](uint64_t piece, uint64_t part) { placement_->give_back(piece, part); });
    }
    // Of many producers, those that ran last: the others have most likely finished.
    static void add(Producers &producers, uint64_t distance) {
        const uint32_t near = uint32_t(std::min<uint64_t>(distance, UINT32_MAX));
        if (producers.count < Producers::most) {
            producers.distance[producers.count++] = near;
            return;
        }
        uint32_t *farthest =
            std::max_element(producers.distance, producers.distance + Producers::most);
        *farthest = std::min(*farthest, near);
    }

    Cursor *cursor_;
    DependenceResolver resolver_;
    Placement *placement_;
    AddressSpace *space_ = nullptr;
    uint32_t first_owner_ = 0;
    uint64_t skip_, left_, skipped_ = 0;
};

} // namespace thermocline
