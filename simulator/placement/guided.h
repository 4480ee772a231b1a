// Each site's pages in the tier that a plan gives it ("guided"): MemBrain (Olson et al. 2018).
// The plan may know fewer sites than the trace, or others.
#pragma once
#include "simulator/memory/config.h"
#include "simulator/placement/policy.h"
#include <nlohmann/json.hpp>

namespace thermocline {

class Guided final : public PlacementPolicy {
  public:
    explicit Guided(const PolicyContext &context)
        : default_(context.config.value("default_tier", context.tiers - 1)) {
        const uint32_t nonheap = context.config.value("nonheap_tier", default_);
        const nlohmann::json sites = context.config.value("sites", nlohmann::json::object());
        for (const std::string &owner : context.owners)
            tiers_.push_back(owner.starts_with('(') ? nonheap : sites.value(owner, default_));
        for (uint32_t tier : tiers_)
            if (std::max(tier, default_) >= context.tiers)
                throw ConfigError("the plan names tier " +
                                  std::to_string(std::max(tier, default_)) + ": the machine has " +
                                  std::to_string(context.tiers) + " tiers");
    }

    uint32_t tier(const Touch &touch, const Frames &) override {
        return touch.owner < tiers_.size() ? tiers_[touch.owner] : default_;
    }

  private:
    const uint32_t default_;
    std::vector<uint32_t> tiers_; // by owner
};

} // namespace thermocline
