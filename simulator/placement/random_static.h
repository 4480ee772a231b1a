// Pages strewn over all tiers, each free frame as likely as any other ("random"): the naive
// baseline of Ryoo 2017, section 5.2.1.  With "weights" a tier is as likely as its weight says,
// which is how memory that is no larger than the program is had on a machine with more of it.
#pragma once
#include "simulator/memory/config.h"
#include "simulator/placement/policy.h"
#include "simulator/placement/random.h"
#include <nlohmann/json.hpp>

namespace thermocline {

class RandomStatic final : public PlacementPolicy {
  public:
    explicit RandomStatic(const PolicyContext &context)
        : seed_(mix(context.seed)),
          weights_(context.config.value("weights", std::vector<uint64_t>())) {
        if (!weights_.empty() && weights_.size() != context.tiers)
            throw ConfigError("placement.weights: give one weight a tier");
    }

    uint32_t tier(const Touch &touch, const Frames &frames) override {
        const auto weight = [&](uint32_t tier) {
            return weights_.empty() ? frames.free_pages(tier) : weights_[tier];
        };
        uint64_t sum = 0;
        for (uint32_t tier = 0; tier < frames.tiers(); tier++)
            sum += weight(tier);
        if (sum == 0)
            return 0;
        uint64_t choice = mix_below(seed_ ^ touch.page, sum);
        uint32_t tier = 0;
        for (; choice >= weight(tier); tier++)
            choice -= weight(tier);
        return tier;
    }

  private:
    const uint64_t seed_;
    const std::vector<uint64_t> weights_;
};

} // namespace thermocline
