// All pages in one tier, "one-tier": what the others are compared with.  Without a tier in its
// configuration the fastest, which is also what Linux does by default: first touch fills the
// near memory and then goes on to the next.
#pragma once
#include "simulator/memory/config.h"
#include "simulator/placement/policy.h"
#include <nlohmann/json.hpp>

namespace thermocline {

class OneTier final : public PlacementPolicy {
  public:
    explicit OneTier(const PolicyContext &context) : tier_(context.config.value("tier", 0u)) {
        if (tier_ >= context.tiers)
            throw ConfigError("placement.tier: there is no tier " + std::to_string(tier_));
    }
    uint32_t tier(const Touch &, const Frames &) override { return tier_; }

  private:
    const uint32_t tier_;
};

} // namespace thermocline
