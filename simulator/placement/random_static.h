// Pages strewn over all tiers, each free frame as likely as any other ("random"): the naive
// baseline of Ryoo 2017, section 5.2.1.
#pragma once
#include "simulator/placement/policy.h"
#include "simulator/placement/random.h"

namespace thermocline {

class RandomStatic final : public PlacementPolicy {
  public:
    explicit RandomStatic(const PolicyContext &context) : seed_(mix(context.seed)) {}

    uint32_t tier(const Touch &touch, const Frames &frames) override {
        uint64_t free = 0;
        for (uint32_t tier = 0; tier < frames.tiers(); tier++)
            free += frames.free_pages(tier);
        if (free == 0)
            return 0;
        uint64_t choice = mix_below(seed_ ^ touch.page, free);
        uint32_t tier = 0;
        for (; choice >= frames.free_pages(tier); tier++)
            choice -= frames.free_pages(tier);
        return tier;
    }

  private:
    const uint64_t seed_;
};

} // namespace thermocline
