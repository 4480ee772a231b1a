// Each site's pages in the tier that a plan gives it ("guided"): MemBrain (Olson et al. 2018).
// The plan may know fewer sites than the trace, or others; it may split a site over tiers, and
// spread it over the sockets: its pages then go round them, as the kernel interleaves.
#pragma once
#include "simulator/memory/config.h"
#include "simulator/placement/policy.h"
#include "simulator/placement/shares.h"
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <string>

namespace thermocline {

class Guided final : public PlacementPolicy {
  public:
    explicit Guided(const PolicyContext &context)
        : default_(context.config.value("default_tier", context.tiers - 1)),
          nonheap_(context.config.value("nonheap_tier", default_)),
          sites_(context.config.value("sites", std::map<std::string, uint32_t>())),
          spread_(context.config.value("spread", std::set<std::string>())),
          owners_(context.owners) {
        uint32_t greatest = std::max(default_, nonheap_);
        for (const auto &[key, tier] : sites_)
            greatest = std::max(greatest, tier);
        using Split = std::map<std::string, std::vector<double>>;
        for (const auto &[key, shares] : context.config.value("shares", Split())) {
            split_.emplace(key, shares);
            greatest = std::max(greatest, uint32_t(shares.size() - 1));
        }
        if (greatest >= context.tiers)
            throw ConfigError("the plan names tier " + std::to_string(greatest) +
                              ": the machine has " + std::to_string(context.tiers) + " tiers");
    }

    uint32_t tier(const Touch &touch, const Frames &) override {
        const Planned planned = of(touch.owner);
        return planned.shares ? planned.shares->tier(touch.page) : planned.tier;
    }
    uint32_t socket(const Touch &touch, uint32_t sockets) override {
        return of(touch.owner).spread ? uint32_t(touch.page % sockets) : touch.socket;
    }

  private:
    struct Planned {
        uint32_t tier;
        const Shares *shares = nullptr; // or null: the site is whole
        bool spread = false;
    };
    Planned of(uint32_t owner) {
        // A live trace names owners as they come.
        while (planned_.size() < owners_.size())
            planned_.push_back(planned(owners_[planned_.size()]));
        return owner < planned_.size() ? planned_[owner] : Planned{default_};
    }
    Planned planned(const std::string &owner) const {
        if (owner.starts_with('('))
            return {nonheap_};
        const auto split = split_.find(owner);
        const auto found = sites_.find(owner);
        return {found == sites_.end() ? default_ : found->second,
                split == split_.end() ? nullptr : &split->second, spread_.contains(owner)};
    }

    const uint32_t default_, nonheap_;
    const std::map<std::string, uint32_t> sites_;
    const std::set<std::string> spread_;
    std::map<std::string, Shares> split_;
    const std::vector<std::string> &owners_;
    std::vector<Planned> planned_; // by owner
};

} // namespace thermocline
