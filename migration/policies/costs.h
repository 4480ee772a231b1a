// What moves take, as measured, and what is cheapest.
#pragma once
#include "migration/policies/policy.h"

namespace thermocline::migration {

struct Shares { // used: of a block's pages, and of a region's
    double block, region;
};

class Costs {
  public:
    void measure(const Move &move) {
        Cost &cost = costs_[unsigned(move.granularity)][move.in];
        // Of a whole chunk: the call's part is that of a page.
        const double whole = pages_of(move.granularity);
        const double call = costs_[0][move.in].ns;
        const double ns = double(move.ns);
        const double full =
            move.pages >= whole || ns < call ? ns : call + (ns - call) * whole / move.pages;
        cost.ns += (full - cost.ns) / (cost.measured ? 16 : 1);
        cost.measured = true;
    }

    // ns.  What was not measured yet is as far from the development machine's as what was.
    double of(unsigned granularity, bool in) const {
        const double here = costs_[granularity][in].ns;
        constexpr unsigned nearest[granularities] = {1, 0, 2};
        for (const unsigned other : nearest)
            if (!costs_[granularity][in].measured && costs_[other][in].measured)
                return here * costs_[other][in].ns / assumed[other][in];
        return here;
    }

    // For a page that is used, if a page whose place is taken has to come again with the
    // probability `again`.
    Granularity cheapest(const Shares &shares, double again) const {
        const double displaced = again * of(0, true);
        double best = 0;
        Granularity choice = Granularity::page;
        for (unsigned g = 0; g < granularities; g++) {
            const double pages = pages_of(Granularity(g));
            const double share = g == 0 ? 1 : g == 1 ? shares.block : shares.region;
            const double useful = share * pages > 1 ? share * pages : 1;
            const double moves = of(g, false) + of(g, true);
            const double cost = (moves + (pages - useful) * displaced) / useful;
            if (g == 0 || cost < best) {
                best = cost;
                choice = Granularity(g);
            }
        }
        return choice;
    }

  private:
    struct Cost {
        double ns;
        bool measured = false;
    };
    // [granularity][in]: of a copying handler on the development machine.
    static constexpr double assumed[granularities][2] = {
        {2000, 16000}, {4000, 35000}, {61000, 630000}};
    Cost costs_[granularities][2] = {{{assumed[0][0]}, {assumed[0][1]}},
                                     {{assumed[1][0]}, {assumed[1][1]}},
                                     {{assumed[2][0]}, {assumed[2][1]}}};
};

} // namespace thermocline::migration
