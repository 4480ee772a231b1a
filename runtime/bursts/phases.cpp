// See phases.h.
#include "phases.h"

namespace tc {

uint64_t BurstPhases::warming(uint64_t lines) const {
    // A set of an LRU cache holds what was last used as soon as all its ways were filled, and
    // sets fill unevenly: half as much again.  Who doesn't fill the cache in so many
    // instructions lives in it.
    constexpr double patience = 128, unknown = 64;
    double most = patience * double(lines);
    double wanted = fills > 0 ? 1.5 * double(lines) * work / fills : unknown * double(lines);
    wanted = work > 0 && fills == 0 ? most : wanted;
    wanted = wanted > most ? most : wanted;
    return wanted > double(least_work) ? uint64_t(wanted) : least_work;
}

void BurstPhases::learn(uint64_t more_work, uint64_t more_fills) {
    work += double(more_work);
    fills += double(more_fills);
}

uint64_t BurstPhases::gap(uint64_t burst) {
    random ^= random << 13; // xorshift
    random ^= random >> 7;
    random ^= random << 17;
    double factor = 0.75 + 0.5 * double(random >> 11) / double(uint64_t(1) << 53);
    return uint64_t(double(burst) * (1 / share - 1) * factor);
}

} // namespace tc
