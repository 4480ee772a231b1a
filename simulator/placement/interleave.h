// Pages dealt to the tiers in turn, so many to each as its weight says ("interleave"): Linux's
// weighted interleaving.
#pragma once
#include "simulator/memory/config.h"
#include "simulator/placement/policy.h"
#include <nlohmann/json.hpp>
#include <numeric>

namespace thermocline {

class Interleave final : public PlacementPolicy {
  public:
    explicit Interleave(const PolicyContext &context)
        : weights_(context.config.value("weights", std::vector<uint32_t>(context.tiers, 1))),
          sum_(std::accumulate(weights_.begin(), weights_.end(), uint64_t(0))) {
        if (weights_.size() != context.tiers || sum_ == 0)
            throw ConfigError("placement.weights: give one weight a tier, not all of them 0");
    }

    uint32_t tier(const Touch &, const Frames &) override {
        uint64_t turn = next_++ % sum_;
        uint32_t tier = 0;
        for (; turn >= weights_[tier]; tier++)
            turn -= weights_[tier];
        return tier;
    }

  private:
    const std::vector<uint32_t> weights_;
    const uint64_t sum_;
    uint64_t next_ = 0;
};

} // namespace thermocline
