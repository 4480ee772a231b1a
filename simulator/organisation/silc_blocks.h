// SILC-FM's entry of each near block (Ryoo 2017, section 5.1): whose subblocks are there beside its
// own, which, how often both are used, and whether one of them is locked in.
#pragma once
#include <cstdint>
#include <vector>

namespace thermocline {

struct SilcBlock {
    static constexpr uint8_t greatest = 63; // counters have six bits
    enum Lock : uint8_t { unlocked, far_locked, near_locked };

    uint32_t remap = 0;   // far block + 1; 0: none yet
    uint32_t bits = 0;    // subblocks of it that are here
    uint32_t history = 0; // where in the history they are noted
    uint32_t used = 0;    // for LRU
    uint32_t aged = 0;    // how often
    uint8_t near_count = 0, far_count = 0;
    Lock lock = unlocked;
    bool planned = false; // locked by a plan, so that it doesn't age

    bool has(uint64_t offset) const { return bits >> offset & 1; }
    // Counters are halved at each ageing; who is no longer hot is no longer locked in.
    void age(uint32_t times, uint32_t threshold) {
        if (times == aged)
            return;
        const uint32_t halvings = times - aged < 8 ? times - aged : 8;
        aged = times;
        near_count = uint8_t(near_count >> halvings);
        far_count = uint8_t(far_count >> halvings);
        if (!planned && ((lock == far_locked && far_count < threshold) ||
                         (lock == near_locked && near_count < threshold)))
            lock = unlocked;
    }
    static void count(uint8_t &counter) { counter = uint8_t(counter + (counter < greatest)); }
};

// Blocks by set and way: near block b is in set b modulo the number of sets, as far ones are.
class SilcSets {
  public:
    SilcSets(uint64_t near_blocks, uint32_t ways, uint32_t sockets)
        : ways_(ways), sets_(near_blocks / ways), blocks_(sets_ * ways * sockets) {}

    uint32_t ways() const { return ways_; }
    uint64_t managed() const { return sets_ * ways_; } // near blocks that are in sets
    uint64_t sets() const { return sets_; }
    uint64_t set(uint64_t block) const { return block % sets_; }
    uint32_t way(uint64_t near_block) const { return uint32_t(near_block / sets_); }
    uint64_t near_block(uint64_t set, uint32_t way) const { return way * sets_ + set; }
    // The blocks of a set, up to date.
    SilcBlock *aged(uint32_t socket, uint64_t set, uint32_t times, uint32_t threshold) {
        SilcBlock *blocks = &blocks_[(socket * sets_ + set) * ways_];
        for (uint32_t way = 0; way < ways_; way++)
            blocks[way].age(times, threshold);
        return blocks;
    }
    // The way that was used least lately of those that are not locked, or `ways()`.
    uint32_t victim(const SilcBlock *blocks) const {
        uint32_t least = ways_;
        for (uint32_t way = 0; way < ways_; way++)
            if (blocks[way].lock == SilcBlock::unlocked &&
                (least == ways_ || blocks[way].used < blocks[least].used))
                least = way;
        return least;
    }

  private:
    const uint32_t ways_;
    const uint64_t sets_;
    std::vector<SilcBlock> blocks_;
};

} // namespace thermocline
