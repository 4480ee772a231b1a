// The history-based scheme: Ryoo 2017, section 6.2.1, Algorithms 1 and 2.
//
// Published: 85 % of a region's pages.  Not published, and so ours: how many regions must agree
// (thr_movein, thr_moveout), and how Algorithm 2's two thresholds follow from the 85 %: a chunk of
// which less than 85 % was used was too large (NM_64KB), one of which less than 15 % was used
// should have been single pages (NM_4KB).  Algorithm 1 prints `++` for NUM_4KB_IN_NM; the text
// says that it tracks how many 4 KiB pages have been moved, without which 64 KiB could never
// become 2 MiB: it grows by the pages of the granularity that is about to move.
#pragma once
#include "migration/policies/policy.h"
#include "migration/policies/region_map.h"

namespace thermocline::migration {

struct HistoryRules {
    double used = 0.85;    // thr_NM_2MB and thr_NM_64KB, as a share of the region's pages
    uint32_t move_in = 8;  // thr_movein_2MB and thr_movein_64KB, in regions
    uint32_t move_out = 8; // thr1_moveout_4KB and thr1_moveout_64KB, in victims
};

class History final : public Policy {
  public:
    explicit History(HistoryRules rules = {}) : rules_(rules) {}

    Granularity move_in(uint64_t address) override {
        upgrade(address);
        return current_;
    }

    Granularity move_out(uint64_t victim, const Near &near) override {
        if (current_ != Granularity::page)
            downgrade(near.not_accessed(victim, current_));
        return current_;
    }

    Granularity current(uint64_t) const override { return current_; }

  private:
    void upgrade(uint64_t address) {
        if (current_ != Granularity::region && filled(regions_, address, Granularity::region) &&
            ++full_regions_ >= rules_.move_in)
            return upgrade_to(Granularity::region);
        if (current_ == Granularity::page && filled(blocks_, address, Granularity::block) &&
            ++full_blocks_ >= rules_.move_in)
            upgrade_to(Granularity::block);
    }

    // Counts what is about to move; whether enough of the chunk had moved before.
    bool filled(RegionMap<uint32_t> &counters, uint64_t address, Granularity granularity) {
        uint32_t &counter = counters.get(address >> shift_of(granularity));
        const uint32_t before = counter;
        counter += pages_of(current_);
        return before >= rules_.used * pages_of(granularity);
    }

    void upgrade_to(Granularity granularity) { // and CLEAR_MOVEIN_STATS
        current_ = granularity;
        full_regions_ = full_blocks_ = 0;
        regions_.clear();
        blocks_.clear();
    }

    void downgrade(double not_accessed) {
        if (not_accessed >= rules_.used) {
            if (++sparse_ >= rules_.move_out)
                downgrade_to(Granularity::page);
        } else if (current_ == Granularity::region && not_accessed >= 1 - rules_.used &&
                   ++half_used_ >= rules_.move_out)
            downgrade_to(Granularity::block);
    }

    void downgrade_to(Granularity granularity) { // and CLEAR_MOVEOUT_STATS
        current_ = granularity;
        sparse_ = half_used_ = 0;
    }

    const HistoryRules rules_;
    Granularity current_ = Granularity::page;
    RegionMap<uint32_t> regions_, blocks_; // NUM_4KB_IN_NM, by 2 MiB and by 64 KiB
    uint32_t full_regions_ = 0, full_blocks_ = 0;
    uint32_t sparse_ = 0, half_used_ = 0; // app.4KB_unuse, app.64KB_unuse
};

} // namespace thermocline::migration
