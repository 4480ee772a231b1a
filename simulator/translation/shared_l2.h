// The cores' second-level TLBs as one, with all their entries (Bhattacharjee, Lustig and Martonosi,
// "Shared last-level TLBs for chip multiprocessors", HPCA 2011; Ryoo 2017, section 7.2.4).  It is
// farther away; its misses are walks.
#pragma once
#include "simulator/translation/last_level.h"

namespace thermocline {

class SharedL2 : public LastLevel {
  public:
    // `cycles`: from a miss of the first level to its answer.
    SharedL2(const TranslationConfig &config, uint32_t)
        : time_(config.cycles(config.options.value("cycles", 16.0))) {}

    Second second(const TranslationConfig &config, uint32_t cores) const override {
        BufferConfig all = config.second;
        all.entries *= cores;
        return {all, true, std::max(time_, config.second_ps)};
    }
    uint64_t miss(uint32_t, const Page &page, Walker &walker, References &references) override {
        return walker.walk(page, references);
    }

  private:
    const Ps time_;
};

} // namespace thermocline
