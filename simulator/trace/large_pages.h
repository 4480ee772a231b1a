// Which addresses of a recorded process were found in pages of 2 MiB.
#pragma once
#include <algorithm>
#include <cstdint>
#include <vector>

namespace thermocline {

// Ranges in ascending order, apart from each other.
class LargePages {
  public:
    struct Range {
        uint64_t from, to;
    };

    bool contains(uint64_t address) const {
        const auto after =
            std::upper_bound(ranges_.begin(), ranges_.end(), address,
                             [](uint64_t at, const Range &range) { return at < range.from; });
        return after != ranges_.begin() && address < std::prev(after)->to;
    }
    uint64_t bytes() const {
        uint64_t sum = 0;
        for (const Range &range : ranges_)
            sum += range.to - range.from;
        return sum;
    }
    const std::vector<Range> &ranges() const { return ranges_; }

    // In any order; what is there already may come again.
    void add(std::vector<Range> more) {
        more.insert(more.end(), ranges_.begin(), ranges_.end());
        std::sort(more.begin(), more.end(),
                  [](const Range &a, const Range &b) { return a.from < b.from; });
        ranges_.clear();
        for (const Range &range : more)
            if (!ranges_.empty() && range.from <= ranges_.back().to)
                ranges_.back().to = std::max(ranges_.back().to, range.to);
            else
                ranges_.push_back(range);
    }

  private:
    std::vector<Range> ranges_;
};

} // namespace thermocline
