// What SILC-FM keeps on the chip: where lines were lately, which subblocks of a block were used,
// and how many requests near memory serves (Ryoo 2017, sections 5.1.1, 5.1.5 and 5.1.6).
#pragma once
#include "simulator/organisation/steps.h"

namespace thermocline {

// Where a line of the far address range will be found: 4096 entries, by instruction xor the line's
// place in its block.
class LocationPredictor {
  public:
    // Plans the step's look-ups and reads by the guess, and learns at once what will turn out: the
    // way that the block has (`ways`: none), and whether the line is in it.
    void guess(Step &step, uint64_t offset, uint32_t way, uint32_t ways, bool near) {
        Entry &entry = entries_[(step.demand.instruction ^ offset) % entries];
        predictions_++;
        // Right is who knows the memory and, of near memory, the way (Table 5.4).
        right_ += entry.near ? near && entry.way == way : !near;
        if (entry.near) {
            if (step.lookup.entries > 1) {
                step.lookup.first = entry.way;
                step.lookup.rest = entry.way != way; // else that entry says all
            }
        } else if (step.lookup.entries > 0 && !step.demand.write) {
            step.early = !near;
            step.wasted = near ? step.line[0] : Step::no_slot;
        }
        entry.near = near;
        if (way < ways)
            entry.way = uint8_t(way);
    }
    uint64_t predictions() const { return predictions_; }
    uint64_t right() const { return right_; }

  private:
    struct Entry {
        uint8_t way = 0;
        bool near = false;
    };
    static constexpr size_t entries = 4096;
    std::vector<Entry> entries_ = std::vector<Entry>(entries);
    uint64_t predictions_ = 0, right_ = 0;
};

// Subblocks that were near when a block left, by instruction xor the line that came first.  The
// thesis has 1 million entries (4 MB) in section 5.1 and 72 KB in 5.2.1, where the experiments
// are: entries of 4 bytes, without tags.
class SubblockHistory {
  public:
    static uint32_t index(uint32_t instruction, uint64_t line) {
        return uint32_t((instruction ^ line) % entries);
    }
    uint32_t &operator[](uint32_t index) { return vectors_[index]; }

  private:
    static constexpr size_t entries = 72 * 1024 / 4;
    std::vector<uint32_t> vectors_ = std::vector<uint32_t>(entries);
};

// Whether near memory serves more than its share of the reads, lately: both counts are halved
// every 4096 reads (assumed: the thesis doesn't say over what the rate is taken).
class AccessRate {
  public:
    explicit AccessRate(double share) : share_(share) {}
    void count(bool near) {
        near_ += near;
        if (++all_ == window) {
            near_ /= 2;
            all_ /= 2;
        }
    }
    bool above() const { return double(near_) > share_ * double(all_); }

  private:
    static constexpr uint32_t window = 4096;
    const double share_;
    uint32_t near_ = 0, all_ = 0;
};

// How often each row of Table 5.1 came up.  Of a far line that no entry names, the bit is that of
// any way.
class SilcCases {
  public:
    void native(bool away) { native_[away]++; }
    void far(bool match, bool bit) { far_[match][bit]++; }
    nlohmann::json json() const {
        return {{"match_near", far_[1][1]},  {"match_far", far_[1][0]},
                {"native_away", native_[1]}, {"native_home", native_[0]},
                {"other_held", far_[0][1]},  {"other_empty", far_[0][0]}};
    }

  private:
    uint64_t native_[2] = {}, far_[2][2] = {};
};

} // namespace thermocline
