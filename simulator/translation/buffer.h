// A translation buffer: set-associative, true LRU.  TLBs and page-walk caches are such.
#pragma once
#include <cstdint>
#include <vector>

namespace thermocline {

struct BufferConfig {
    uint32_t entries = 0; // 0: there is none, and nothing is ever found
    uint32_t ways = 1;    // divides them
};

struct BufferStatistics {
    uint64_t lookups = 0, hits = 0;
};

class Buffer {
  public:
    Buffer() = default;
    explicit Buffer(const BufferConfig &config)
        : ways_(config.ways), sets_(config.entries ? config.entries / config.ways : 1),
          entries_(config.entries) {}

    // The value kept under a key, or nullptr; counts, and makes it the last one used.
    const uint64_t *find(uint64_t number, uint64_t key) {
        statistics_.lookups++;
        if (entries_.empty())
            return nullptr;
        Entry *set = this->set(number);
        for (uint32_t way = 0; way < ways_; way++)
            if (set[way].key == key) {
                const Entry found = set[way];
                for (; way > 0; way--)
                    set[way] = set[way - 1];
                set[0] = found;
                statistics_.hits++;
                return &set[0].value;
            }
        return nullptr;
    }
    // It was the last one used and has been found again.
    void found_again() {
        statistics_.lookups++;
        statistics_.hits++;
    }

    // In place of the one used longest ago; the key is not there.
    void insert(uint64_t number, uint64_t key, uint64_t value) {
        if (entries_.empty())
            return;
        Entry *set = this->set(number);
        for (uint32_t way = ways_ - 1; way > 0; way--)
            set[way] = set[way - 1];
        set[0] = {key, value};
    }

    void remove(uint64_t number, uint64_t key) {
        if (entries_.empty())
            return;
        Entry *set = this->set(number);
        for (uint32_t way = 0; way < ways_; way++)
            if (set[way].key == key) {
                for (; way + 1 < ways_; way++)
                    set[way] = set[way + 1];
                set[way] = {};
                return;
            }
    }

    const BufferStatistics &statistics() const { return statistics_; }

  private:
    struct Entry {
        uint64_t key = 0, value = 0; // key 0: empty
    };
    Entry *set(uint64_t number) {
        const uint64_t at = (sets_ & (sets_ - 1)) == 0 ? number & (sets_ - 1) : number % sets_;
        return &entries_[at * ways_];
    }

    uint32_t ways_ = 1;
    uint64_t sets_ = 1;
    std::vector<Entry> entries_; // a set's in order of use
    BufferStatistics statistics_;
};

} // namespace thermocline
