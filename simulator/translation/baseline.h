// What processors do today: the page is walked.
#pragma once
#include "simulator/translation/last_level.h"

namespace thermocline {

class Baseline : public LastLevel {
  public:
    Baseline(const TranslationConfig &, uint32_t) {}
    uint64_t miss(uint32_t, const Page &page, Walker &walker, References &references) override {
        return walker.walk(page, references);
    }
};

} // namespace thermocline
