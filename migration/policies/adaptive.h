// Ours: a granularity for each 2 MiB of the address space, by what a useful page costs.
//
// For each region it keeps how much of a 64 KiB block, and of the 2 MiB, is used between moving in
// and moving out: from the chunks that fault while it moves by 4 or 64 KiB, from the pages that
// were not accessed when a chunk leaves.  A region that has no past takes the mean of the others.
// What leaves after the region's first chunk, before another one comes, teaches nothing: it was
// counted with the first.
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
        if (region.left) { // it was near before
            region.left = false;
            returned_ += (1 - returned_) / 64;
        } else {
            returned_ -= returned_ / 64;
        }
        const uint32_t page = uint32_t(address >> 12 & 511);
        region.seen[page / 64] |= uint64_t(1) << (page & 63);
        return region.granularity = cheapest(region);
    }

    Granularity move_out(uint64_t victim, const Near &near) override {
        Region &region = known(victim);
        const Granularity moved = region.granularity;
        const double used = 1 - near.not_accessed(victim, moved);
        const Seen seen = seen_in(region);
        if (moved == Granularity::region) {
            learn(region.block, block_, used, region.learned);
            learn(region.region, region_, used, region.learned);
        } else if (seen.blocks > 0) {
            const bool by_blocks = moved == Granularity::block;
            learn(region.block, block_, by_blocks ? used : seen.in_blocks(), region.learned);
            learn(region.region, region_, by_blocks ? seen.of_blocks() * used : seen.of_pages(),
                  region.learned);
        } else {
            return leave(region);
        }
        region.learned = true;
        return leave(region);
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
        cost.ns += (full - cost.ns) / (cost.measured ? 16 : 1);
        cost.measured = true;
    }

  private:
    struct Region {
        uint64_t seen[8];    // pages that were touched since the last chunk left
        float block, region; // shares used
        Granularity granularity;
        bool known, left, learned;
    };
    struct Cost {
        double ns;
        bool measured = false;
    };

    Region &known(uint64_t address) {
        Region &region = regions_.get(address >> 21);
        if (!region.known) {
            region.known = true;
            region.granularity = cheapest(region); // of its leaving, if it never came
        }
        return region;
    }
    Granularity leave(Region &region) {
        for (uint64_t &word : region.seen)
            word = 0;
        region.left = true;
        return region.granularity;
    }

    // Touches that faulted: by 64 KiB, one for all of a block.
    struct Seen {
        double pages, blocks;
        double in_blocks() const { return blocks > 0 ? pages / (16 * blocks) : 0; }
        double of_pages() const { return pages / 512; }
        double of_blocks() const { return blocks / 32; }
    };
    static Seen seen_in(const Region &region) {
        Seen seen = {0, 0};
        for (uint64_t word : region.seen) {
            seen.pages += __builtin_popcountll(word);
            for (unsigned block = 0; block < 4; block++)
                seen.blocks += (word >> 16 * block & 0xffff) != 0;
        }
        return seen;
    }

    // A stay of a region: its first one is all that is known of it.
    static void learn(float &mine, double &mean, double used, bool before) {
        mine += float((used - mine) / (before ? 2 : 1));
        mean += (used - mean) / 4;
    }

    Granularity cheapest(const Region &region) const {
        // What this stay has shown already is a lower bound.
        const Seen seen = seen_in(region);
        const bool by_blocks = region.granularity == Granularity::block;
        const double block = larger(region.learned ? region.block : block_, seen.in_blocks());
        const double whole = larger(region.learned ? region.region : region_,
                                    by_blocks ? seen.of_blocks() * block : seen.of_pages());
        const double page_in = costs_[0][1].ns;
        double best = 0;
        Granularity choice = Granularity::page;
        for (unsigned g = 0; g < granularities; g++) {
            const double pages = pages_of(Granularity(g));
            const double share = g == 0 ? 1 : g == 1 ? block : whole;
            const double useful = larger(1, share * pages);
            const double wasted = pages - useful;
            const double cost =
                (cost_of(g, 0) + cost_of(g, 1) + wasted * returned_ * page_in) / useful;
            if (g == 0 || cost < best) {
                best = cost;
                choice = Granularity(g);
            }
        }
        return choice;
    }

    // Until 2 MiB is measured, half of what 32 blocks cost, so that it is tried where all of a
    // region is used: the first one that moves tells.
    double cost_of(unsigned granularity, unsigned in) const {
        if (granularity < 2 || costs_[2][in].measured || !costs_[1][in].measured)
            return costs_[granularity][in].ns;
        return 16 * costs_[1][in].ns;
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
