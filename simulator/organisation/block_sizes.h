// What near memory would hold as a direct-mapped cache of larger blocks: the tags alone, for each
// size of block, beside the cache that is simulated (Ryoo 2017, Figure 1.1).  Block sizes share
// the demands and the bytes; nothing of it has a part in timing.
#pragma once
#include "simulator/organisation/demand.h"

namespace thermocline {

class BlockSizes {
  public:
    static constexpr uint64_t smallest = memory_line_bytes, largest = 4096;

    // `bytes` of each of so many caches.
    BlockSizes(uint64_t bytes, uint32_t caches) : bytes_(bytes) {
        for (uint64_t block = smallest; block <= largest; block *= 2)
            tags_.emplace_back(bytes / block * caches);
        misses_.resize(tags_.size());
    }

    // A line of the memory that is cached, by its number.
    void demand(uint32_t cache, uint64_t line) {
        demands_++;
        for (size_t size = 0; size < tags_.size(); size++) {
            const uint64_t block = line >> size, sets = bytes_ / (smallest << size);
            uint32_t &tag = tags_[size][cache * sets + block % sets];
            const uint32_t mine = uint32_t(block / sets + 1);
            misses_[size] += tag != mine;
            tag = mine;
        }
    }

    nlohmann::json json() const {
        nlohmann::json all = nlohmann::json::array();
        for (size_t size = 0; size < tags_.size(); size++)
            all.push_back(
                {{"bytes", smallest << size}, {"demands", demands_}, {"misses", misses_[size]}});
        return all;
    }

  private:
    const uint64_t bytes_;
    uint64_t demands_ = 0;
    std::vector<std::vector<uint32_t>> tags_; // by size and set; 0: empty
    std::vector<uint64_t> misses_;
};

} // namespace thermocline
