// Ours: a granularity for each 2 MiB of the address space, by what a useful page costs.
//
// For each region it keeps how much of a 64 KiB block, and of the 2 MiB, is used between moving in
// and moving out: from the pages that fault while it moves by 4 KiB, from the pages that were not
// accessed when a larger chunk leaves.  A region that has no past takes the mean of the others.
// The cost of moving in and out is measured, for each granularity.  A chunk's cost is shared by
// the pages in it that will be used; each of the others takes the place of a page that will have
// to come again with the probability that pages do come again, measured as well.  Both means
// forget: half of what is known is the last observation, so that a change of phase shows at once.
#pragma once
#include "migration/policies/policy.h"
#include "migration/policies/region_map.h"

namespace thermocline::migration {

class Adaptive final : public Policy {
  public:
    Granularity move_in(uint64_t address) override {
        Region &region = known(address);
        see(region, uint32_t(address >> 12 & 511));
        if (region.left) { // it was near before
            region.left = false;
            returned_ += (1 - returned_) / 64;
        } else {
            returned_ -= returned_ / 64;
        }
        return region.granularity = cheapest(region);
    }

    Granularity move_out(uint64_t victim, const Near &near) override {
        Region &region = known(victim);
        const Granularity moved = region.granularity;
        const double used = 1 - near.not_accessed(victim, moved);
        if (moved == Granularity::page)
            learn(region, density(region, Granularity::block),
                  density(region, Granularity::region));
        else if (moved == Granularity::block)
            learn(region, used, density(region, Granularity::region) * used);
        else
            learn(region, used, used);
        for (uint64_t &word : region.seen)
            word = 0;
        region.left = true;
        return moved;
    }

    Granularity current(uint64_t address) const override {
        const Region *region = regions_.find(address >> 21);
        return region ? region->granularity : Granularity::page;
    }

    void moved(const Move &move) override {
        Cost &cost = costs_[unsigned(move.granularity)][move.in];
        // Of a whole chunk: the call's part is that of a page.
        const double whole = pages_of(move.granularity);
        const double call = double(costs_[0][move.in].ns);
        const double ns = double(move.ns);
        const double full =
            move.pages >= whole || ns < call ? ns : call + (ns - call) * whole / move.pages;
        cost.ns += (full - cost.ns) / 16;
    }

  private:
    struct Region {
        uint64_t seen[8];    // pages that were touched since the last chunk left
        float block, region; // shares used
        Granularity granularity;
        bool known, left;
    };
    struct Cost {
        double ns;
    };

    Region &known(uint64_t address) {
        Region &region = regions_.get(address >> 21);
        if (!region.known) {
            region.block = float(block_);
            region.region = float(region_);
            region.known = true;
        }
        return region;
    }

    // A larger chunk's pages are told by not_accessed when it leaves.
    static void see(Region &region, uint32_t page) {
        if (region.granularity == Granularity::page)
            region.seen[page / 64] |= uint64_t(1) << (page & 63);
    }

    // Of the pages of the chunks that were touched at all.
    static double density(const Region &region, Granularity granularity) {
        double pages = 0, chunks = 0;
        for (uint64_t word : region.seen) {
            pages += __builtin_popcountll(word);
            for (unsigned block = 0; block < 4; block++)
                chunks += (word >> 16 * block & 0xffff) != 0;
        }
        if (granularity == Granularity::region)
            return pages / 512;
        return chunks > 0 ? pages / (16 * chunks) : 0;
    }

    void learn(Region &region, double block, double whole) {
        region.block += float((block - region.block) / 2);
        region.region += float((whole - region.region) / 2);
        block_ += (block - block_) / 16;
        region_ += (whole - region_) / 16;
    }

    Granularity cheapest(const Region &region) const {
        // What this stay has shown already is a lower bound.
        const double block = larger(region.block, density(region, Granularity::block));
        const double whole = larger(region.region, density(region, Granularity::region));
        const double page_in = costs_[0][1].ns;
        double best = 0;
        Granularity choice = Granularity::page;
        for (unsigned g = 0; g < granularities; g++) {
            const double pages = pages_of(Granularity(g));
            const double share = g == 0 ? 1 : g == 1 ? block : whole;
            const double useful = larger(1, share * pages);
            const double wasted = pages - useful;
            const double cost =
                (costs_[g][0].ns + costs_[g][1].ns + wasted * returned_ * page_in) / useful;
            if (g == 0 || cost < best) {
                best = cost;
                choice = Granularity(g);
            }
        }
        return choice;
    }

    static double larger(double a, double b) { return a > b ? a : b; }

    RegionMap<Region> regions_;
    double block_ = 0.5, region_ = 0.25; // means over regions; before any: nothing speaks for 2 MiB
    double returned_ = 0.5;
    // [granularity][in], ns; until measured, those of a copying handler on the development
    // machine.
    Cost costs_[granularities][2] = {{{2000}, {16000}}, {{4000}, {35000}}, {{61000}, {630000}}};
};

} // namespace thermocline::migration
