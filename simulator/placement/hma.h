// Epoch-based migration by the operating system ("hma"): Ryoo 2017, section 4.1.3, after Meswani
// et al. 2015.  At each epoch's end the pages that were accessed more often than a threshold are
// marked, and those of them that are in far memory move to near memory, the hottest first: into
// free frames, or in exchange for pages there that are not marked, the coldest first.  The
// threshold is dynamic: it doubles when more is marked than near memory holds, and halves, not
// below the least, when less than half of that is.
//
// The paper gives the epoch (100 million cycles, for example) and none of the other numbers.
//
// options: "epoch_ps"; "bytes" that move together (4096); "threshold", the least; "start", the
// placement at first touch; "operation_ps", "shootdown_ps", "sweep_ps", "copiers", "lines" as in
// MigrationRules.
#pragma once
#include "simulator/placement/policy.h"

namespace thermocline {

class Hma final : public PlacementPolicy {
  public:
    explicit Hma(const PolicyContext &context); // throws ConfigError

    uint32_t tier(const Touch &touch, const Frames &frames) override {
        return start_->tier(touch, frames);
    }
    MigrationRules rules() const override { return rules_; }
    std::vector<Operation> epoch(const Placement &placement) override;

  private:
    struct Group { // of pages that move together
        uint64_t number;
        uint64_t accesses = 0;
    };
    std::vector<Group> marked(const Placement &placement) const;
    std::vector<PageUse> coldest(const Placement &placement, std::vector<Group> marked,
                                 size_t count) const;
    void adapt(uint64_t marked_pages, uint64_t near_pages);

    MigrationRules rules_;
    uint64_t group_pages_, least_, threshold_;
    std::unique_ptr<PlacementPolicy> start_;
};

} // namespace thermocline
