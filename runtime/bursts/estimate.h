// From what bursts saw to all that a program did (docs/method-bursts.md, "The estimate").
#pragma once
#include "trace/traffic.h"
#include <cstdint>

namespace tc {

// Of traffic by owner.  Work is in instructions.
class BurstEstimate {
  public:
    // Takes room for so many owners; false: no memory.
    bool start(uint32_t owners);
    void forget();

    // The run's first `work` was recorded whole.
    void add_begin(const Traffic *, uint32_t count, uint64_t work);
    // A burst saw this traffic in so much work, and stands for `weight` of the other work: its
    // share matters, not its size.
    void add(const Traffic *, uint32_t count, uint64_t work, double weight);

    // The sum for a run of so much work.
    Traffic sum(uint32_t owner, uint64_t all_work) const;
    // Half the width of the 95 % interval of an owner's memory traffic, in bytes.
    double error_bytes(uint32_t owner, uint64_t all_work) const;

    uint32_t bursts() const { return made; }

  private:
    // By loads, stores, read bytes and written bytes.
    static constexpr unsigned kinds = 4;
    struct Owner {
        double begin[kinds], weighted[kinds]; // traffic; traffic per work, times weight
        double last, steps;                   // bytes per work; squares of its changes, weighted
    };
    double scale(uint64_t all_work) const;
    Owner *owners = nullptr;
    uint32_t room = 0, used = 0, made = 0;
    double begin_work = 0, weights = 0;
};

} // namespace tc
