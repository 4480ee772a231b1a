// How long bursts are, and how long to wait for the next (docs/method-bursts.md).
#pragma once
#include <cstdint>

namespace tc {

class BurstPhases {
  public:
    // `overhead`: the share of the time that may be recorded.
    void start(double overhead) { share = overhead; }

    // Instructions of recording before a burst counts, and as many while it does.  By then the
    // last level should have been filled anew, as fast as it was filled in bursts so far; that
    // the burst at hand does not decide is on purpose: one that waited until it has missed
    // often would count mostly where the program misses.  `lines`: of all last levels.
    uint64_t warming(uint64_t lines) const;
    // A burst has recorded so many instructions, and the last level taken in so many lines.
    void learn(uint64_t work, uint64_t fills);

    // Nanoseconds without recording after a burst that took so long; different each time, or
    // bursts could keep step with the program.
    uint64_t gap(uint64_t burst_nanoseconds);

    static constexpr uint64_t least_work = 1000000;

  private:
    uint64_t random = 0x9e3779b97f4a7c15;
    double share = 1, work = 0, fills = 0;
};

} // namespace tc
