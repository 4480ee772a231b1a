// Ours: a granularity for each 2 MiB of the address space (a region), by what a useful page costs.
//
// Moving in.  A chunk's measured cost, in and out, is shared by the pages in it that will be used;
// each of the others takes the place of a page that has to come again with some probability.  How
// much of a block and of the region is used is known from its last stay: from the faults, where
// small chunks came, and from the pages that were not accessed, where large ones did.  A region
// without a past is taken to be as the last ones were, and one whose blocks fault one after the
// other as a stream that goes on to its end.  What rests on such a guess is a bet, of which few are
// out at a time until they turn out well (bets.h).
//
// Moving out.  What came together leaves together.  When several blocks of a region have left and
// none was asked for again, the rest is as cold and leaves at once; unless regions that left so
// were soon wanted back.
//
// Half of what is known is the last observation, so that a change of phase shows at once.
#pragma once
#include "migration/policies/bets.h"
#include "migration/policies/costs.h"
#include "migration/policies/policy.h"
#include "migration/policies/region_map.h"
#include "migration/policies/stay.h"

namespace thermocline::migration {

// Fitted to Table 6.2's programs in the simulator (`thermocline reproduce ryoo granularity`, which
// also tells what thresholds fitted without a program do to it).
struct AdaptiveRules {
    uint32_t run = 4;   // blocks that fault in a row make a stream
    uint32_t gone = 4;  // blocks that left make a cold region
    double again = 0.5; // the probability that a page whose place was taken has to come again
};

class Adaptive final : public Policy {
  public:
    explicit Adaptive(AdaptiveRules rules = {}) : rules_(rules) {}

    Granularity move_in(uint64_t address) override {
        look_at_bets();
        Region &region = regions_.get(address >> 21);
        if (is_cold(region)) // so it was said, or would have been
            hasty_ += ((pages_out_ - region.left_at < soon) - hasty_) / 4;
        region.gone = 0;
        if (region.stay.over)
            region.stay = {};
        region.stay.touch(address);
        region.run.follow(block_in_region(address));
        return region.granularity = choose(region);
    }

    Granularity move_out(uint64_t victim, const Near &near) override {
        near_ = &near;
        Region &region = regions_.get(victim >> 21);
        region.gone |= uint32_t(1) << block_in_region(victim);
        region.left_at = pages_out_;
        const Granularity granularity = leaving(region, victim);
        settle_bets(region, victim, granularity, near);
        if (!region.stay.over && region.stay.came(victim))
            learn_from_stay(region, victim, near);
        region.stay.whole &= ~(uint32_t(1) << block_in_region(victim));
        if (granularity == Granularity::region) {
            region.stay.whole = 0;
            region.stay.all = false;
        }
        return granularity;
    }

    Granularity current(uint64_t address) const override {
        const Region *const region = regions_.find(address >> 21);
        return region ? leaving(*region, address) : cheapest({block_, region_});
    }

    void moved(const Move &move) override {
        costs_.measure(move);
        if (!move.in) {
            pages_out_ += move.pages;
            return;
        }
        Region &region = regions_.get(move.address >> 21);
        region.came = true;
        region.came_at = pages_in_ += move.pages;
        // Where half of the chunk was near already, that tells nothing of this move.
        if (move.granularity == Granularity::page || move.pages * 2 < pages_of(move.granularity))
            return;
        const bool block = move.granularity == Granularity::block;
        if (block)
            region.stay.whole |= uint32_t(1) << block_in_region(move.address);
        else
            region.stay.all = true;
        if (region.bet)
            (block ? block_bets_ : region_bets_).place(move.address);
        region.bet = false;
    }

  private:
    struct Region {
        Stay stay;
        Run run;
        uint32_t gone;             // blocks that left since the last fault
        uint32_t left_at, came_at; // in pages that all regions moved
        float block, region;       // shares used; 0: not known
        Granularity granularity;   // of the last move in
        bool came, bet;
    };

    // What the region itself has shown.
    static Shares known(const Region &region) {
        const Stay &stay = region.stay;
        const double here = stay.over ? 0 : stay.used_of_blocks();
        const double block = larger(region.block, here);
        const double touched = stay.over ? 0 : stay.blocks() / 32; // a lower bound
        return {block, larger(region.region, touched * (here > 0 ? here : block))};
    }
    Shares hoped(const Region &region) const {
        Shares shares = known(region);
        if (region.block == 0)
            shares.block = larger(shares.block, block_);
        if (region.region == 0)
            shares.region = larger(shares.region, region_);
        if (region.run.length >= rules_.run)
            shares.region = larger(shares.region, shares.block * region.run.reach() / 32);
        return shares;
    }

    Granularity choose(Region &region) {
        const Granularity sure = cheapest(known(region));
        Shares shares = hoped(region);
        Granularity hope = cheapest(shares);
        if (hope == Granularity::region && hope > sure && !region_bets_.open()) {
            shares.region = 0;
            hope = cheapest(shares);
        }
        if (hope == Granularity::block && hope > sure && !block_bets_.open())
            hope = sure;
        region.bet = hope > sure;
        return region.bet ? hope : sure;
    }

    bool is_cold(const Region &region) const {
        return uint32_t(__builtin_popcount(region.gone)) >= rules_.gone;
    }
    Granularity leaving(const Region &region, uint64_t victim) const {
        const bool in_use = region.came && pages_in_ - region.came_at < soon;
        if (region.stay.all || (is_cold(region) && !in_use && hasty_ < 0.5))
            return Granularity::region;
        if (region.stay.came_whole(victim))
            return Granularity::block;
        return region.came ? region.granularity : cheapest(hoped(region));
    }

    static double used(const Near &near, uint64_t address, Granularity granularity) {
        return 1 - near.not_accessed(address, granularity);
    }
    Bets::Verdict verdict(const Region &region, double share, Granularity granularity) const {
        const bool block = granularity == Granularity::block;
        const Shares shares = {block ? share : hoped(region).block, block ? 0 : share};
        return cheapest(shares) == granularity ? Bets::Verdict::used : Bets::Verdict::unused;
    }

    // Those that are used already turned out well; of the others nothing is known yet.
    void look_at_bets() {
        if (!near_) // nothing has left yet
            return;
        block_bets_.each([&](uint64_t at) {
            const double share = used(*near_, at, Granularity::block);
            if (share < confirmed)
                return Bets::Verdict::open;
            learn(regions_.get(at >> 21).block, block_, share);
            return Bets::Verdict::used;
        });
        region_bets_.next([&](uint64_t at) {
            Region &region = regions_.get(at >> 21);
            const double share = used(*near_, at, Granularity::region);
            if (verdict(region, share, Granularity::region) == Bets::Verdict::unused)
                return Bets::Verdict::open;
            learn(region.region, region_, share);
            return Bets::Verdict::used;
        });
    }
    // Those that leave, or lose a part.
    void settle_bets(Region &region, uint64_t victim, Granularity leaving, const Near &near) {
        const unsigned shift =
            shift_of(leaving == Granularity::region ? leaving : Granularity::block);
        block_bets_.each([&](uint64_t at) {
            if (at >> shift != victim >> shift)
                return Bets::Verdict::open;
            const double share = used(near, at, Granularity::block);
            if (at >> 16 != victim >> 16) // the victim's is part of what the stay teaches
                learn(region.block, block_, share);
            return verdict(region, share, Granularity::block);
        });
        region_bets_.each([&](uint64_t at) {
            if (at >> 21 != victim >> 21)
                return Bets::Verdict::open;
            return verdict(region, used(near, at, Granularity::region), Granularity::region);
        });
    }

    void learn_from_stay(Region &region, uint64_t victim, const Near &near) {
        Stay &stay = region.stay;
        const double in_blocks = stay.came_whole(victim) && !stay.all
                                     ? used(near, victim, Granularity::block)
                                     : stay.used_of_blocks();
        if (in_blocks > 0)
            learn(region.block, block_, in_blocks);
        if (stay.all)
            learn(region.region, region_, used(near, victim, Granularity::region));
        else
            learn(region.region, region_, in_blocks * stay.blocks() / 32);
        stay.over = true;
    }
    // The first that is seen of a region is all that is known of it.
    static void learn(float &mine, double &mean, double used) {
        used = larger(used, 1.0 / 512);
        mine += float((used - mine) / (mine > 0 ? 2 : 1));
        mean += (used - mean) / 4;
    }

    Granularity cheapest(const Shares &shares) const {
        return costs_.cheapest(shares, rules_.again);
    }
    static double larger(double a, double b) { return a > b ? a : b; }

    static constexpr double confirmed = 0.5; // of a block's pages
    static constexpr uint32_t soon = 1024;   // pages: two regions

    const AdaptiveRules rules_;
    RegionMap<Region> regions_;
    Costs costs_;
    Bets block_bets_{32}, region_bets_{2}; // as much memory; a wrong 2 MiB costs most
    double block_ = 0.5, region_ = 0; // means over regions; before any, nothing speaks for 2 MiB
    double hasty_ = 0.25;             // regions that left as cold and were soon wanted
    uint32_t pages_in_ = 0, pages_out_ = 0;
    const Near *near_ = nullptr;
};

} // namespace thermocline::migration
