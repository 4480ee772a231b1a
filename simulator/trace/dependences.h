// What a reference waits for: the trace names the static instructions whose values make an
// address, and here the last time that each of them ran in the thread is looked up.
#pragma once
#include "simulator/trace/tables.h"

namespace thermocline {

// One a thread.  Give it every record, in order.
class DependenceResolver {
  public:
    explicit DependenceResolver(const Tables &tables) : tables_(tables) {}

    // Calls producer(distance) for each load that makes this reference's address: the load
    // was `distance` (1: the last one) references before.  None: nothing to wait for.
    // What ran before a hole in the trace has long finished.
    template <class Producer> void resolve(const Reference &r, Producer producer) {
        if (r.event != TraceEvent::reference) [[unlikely]] {
            if (r.event == TraceEvent::window_begin)
                begun_ = now_;
            return;
        }
        now_++;
        if (r.instruction >= known_.size() || seen_ != tables_.version) [[unlikely]] {
            if (r.instruction == no_static)
                return;
            learn();
        }
        Known &row = known_[r.instruction];
        for (uint32_t i = 0; i < row.producers; i++) {
            const uint32_t made_by = tables_.producers[row.first + i];
            if (made_by < known_.size() && known_[made_by].last > begun_)
                producer(now_ - known_[made_by].last);
        }
        row.last = now_;
    }

  private:
    struct Known {
        uint64_t last = 0; // the reference, counted from 1, that it made last
        uint32_t first = 0, producers = 0;
    };

    void learn() {
        seen_ = tables_.version;
        known_.resize(tables_.statics.size());
        for (size_t i = 0; i < known_.size(); i++) {
            known_[i].first = tables_.statics[i].first_producer;
            known_[i].producers = tables_.statics[i].producers;
        }
    }

    const Tables &tables_;
    std::vector<Known> known_;
    uint64_t seen_ = UINT64_MAX, now_ = 0, begun_ = 0;
};

} // namespace thermocline
