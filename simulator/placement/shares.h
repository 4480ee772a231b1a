// A site's pages dealt to tiers by their shares.  What a page gets hangs on its number alone: by
// multiples of the golden ratio, of which any run of neighbours, and any stride, lies evenly
// (Kronecker's sequence; Knuth, The Art of Computer Programming, volume 3, section 6.4).
#pragma once
#include "simulator/memory/config.h"
#include <cmath>
#include <cstdint>
#include <numeric>
#include <vector>

namespace thermocline {

class Shares {
  public:
    // Of the tiers in order; they need not add up to 1.
    explicit Shares(const std::vector<double> &shares) {
        const double sum = std::accumulate(shares.begin(), shares.end(), 0.0);
        for (double share : shares)
            if (!(share >= 0))
                throw ConfigError("placement.shares: a share is not below 0");
        if (!(sum > 0) || !std::isfinite(sum))
            throw ConfigError("placement.shares: give each tier's share, not all of them 0");
        double before = 0;
        for (double share : shares)
            ends_.push_back(uint64_t((before += share) / sum * 0x1p32));
        // Rounding must leave no gap behind the last that has a share.
        for (size_t tier = shares.size(); tier-- > 0;) {
            ends_[tier] = uint64_t(1) << 32;
            if (shares[tier] > 0)
                break;
        }
    }

    uint32_t tier(uint64_t page) const {
        const uint32_t turn = uint32_t(page) * 0x9e3779b9;
        uint32_t tier = 0;
        while (turn >= ends_[tier])
            tier++;
        return tier;
    }

    size_t tiers() const { return ends_.size(); }

  private:
    std::vector<uint64_t> ends_; // of each tier's part of 2^32
};

} // namespace thermocline
