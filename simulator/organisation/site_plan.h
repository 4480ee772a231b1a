// What a plan says of sites to hardware that moves lines.  The two bits of a page's directive would
// come with its address, from the page table; here the owner of a demand stands for them.
#pragma once
#include "simulator/organisation/flat_space.h"
#include <map>
#include <string>

namespace thermocline {

class SitePlan {
  public:
    enum Directive : uint8_t { none, lock, keep_out };

    // Options: "plan", on or off, and "sites", their tiers by key; others have no directive.
    explicit SitePlan(const OrganisationConfig &config)
        : on_(feature(config, "plan", "off")), owners_(config.owners) {
        if (!on_)
            return;
        if (!config.options.contains("sites") || owners_ == nullptr)
            throw ConfigError("organisation.sites is missing: the plan's tier of each site");
        sites_ = config.options["sites"].get<std::map<std::string, uint32_t>>();
    }

    bool on() const { return on_; }
    Directive of(uint32_t owner) {
        // A live trace names owners as they come.
        while (directives_.size() < owners_->size())
            directives_.push_back(directive((*owners_)[directives_.size()]));
        return owner < directives_.size() ? directives_[owner] : none;
    }

  private:
    Directive directive(const std::string &owner) const {
        const auto found = sites_.find(owner);
        if (found == sites_.end())
            return none;
        return found->second == 0 ? lock : keep_out;
    }

    const bool on_;
    const std::vector<std::string> *const owners_;
    std::map<std::string, uint32_t> sites_;
    std::vector<Directive> directives_; // by owner
};

} // namespace thermocline
