// Each site's pages in the tier that a plan gives it ("guided"): MemBrain (Olson et al. 2018).
// The plan may know fewer sites than the trace, or others.
#pragma once
#include "simulator/memory/config.h"
#include "simulator/placement/policy.h"
#include <map>
#include <nlohmann/json.hpp>

namespace thermocline {

class Guided final : public PlacementPolicy {
  public:
    explicit Guided(const PolicyContext &context)
        : default_(context.config.value("default_tier", context.tiers - 1)),
          nonheap_(context.config.value("nonheap_tier", default_)),
          sites_(context.config.value("sites", std::map<std::string, uint32_t>())),
          owners_(context.owners) {
        uint32_t greatest = std::max(default_, nonheap_);
        for (const auto &[key, tier] : sites_)
            greatest = std::max(greatest, tier);
        if (greatest >= context.tiers)
            throw ConfigError("the plan names tier " + std::to_string(greatest) +
                              ": the machine has " + std::to_string(context.tiers) + " tiers");
    }

    uint32_t tier(const Touch &touch, const Frames &) override {
        // A live trace names owners as they come.
        while (tiers_.size() < owners_.size())
            tiers_.push_back(planned(owners_[tiers_.size()]));
        return touch.owner < tiers_.size() ? tiers_[touch.owner] : default_;
    }

  private:
    uint32_t planned(const std::string &owner) const {
        if (owner.starts_with('('))
            return nonheap_;
        const auto found = sites_.find(owner);
        return found == sites_.end() ? default_ : found->second;
    }

    const uint32_t default_, nonheap_;
    const std::map<std::string, uint32_t> sites_;
    const std::vector<std::string> &owners_;
    std::vector<uint32_t> tiers_; // by owner
};

} // namespace thermocline
