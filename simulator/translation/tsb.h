// A translation storage buffer, as SPARC's (Ryoo 2017, section 7.2.4): a miss of the TLB traps, and
// the system's handler looks into a direct-mapped buffer in memory, which caches don't hold; one
// part for small and one for large pages, looked up one after the other.  Then it walks.
#pragma once
#include "simulator/memory/config.h"
#include "simulator/translation/last_level.h"

namespace thermocline {

class Tsb : public LastLevel {
  public:
    // `trap`: cycles from the miss to the handler's first load, and of its return.
    Tsb(const TranslationConfig &config, uint32_t)
        : trap_(config.cycles(config.options.value("trap", 100.0))),
          entries_(config.buffer.bytes / parts / entry_bytes) {
        if (entries_ == 0)
            throw ConfigError("translation.buffer is too small for a TSB");
        for (auto &part : part_)
            part.resize(entries_);
    }

    uint64_t miss(uint32_t, const Page &page, Walker &walker, References &references) override {
        references.pass(trap_);
        const unsigned mine = part_of(page);
        for (unsigned part = 0; part <= mine; part++) {
            // Where the page would lie in this part; only its own can hold it.
            const Page there = part == mine ? page : Page::of(page.address(), page.space, part);
            references.refer(address(part, index(there)), Via::memory, 0);
            lookups_++;
        }
        Entry &entry = part_[mine][index(page)];
        if (entry.key == page.key()) {
            hits_++;
            return entry.frame;
        }
        misses_++;
        const uint64_t frame = walker.walk(page, references);
        entry = {page.key(), frame};
        references.refer(address(mine, index(page)), Via::write, 0);
        return frame;
    }
    void forget(const Page &page) override {
        Entry &entry = part_[part_of(page)][index(page)];
        if (entry.key == page.key())
            entry = {};
    }
    nlohmann::json statistics() const override {
        return {{"hits", hits_}, {"misses", misses_}, {"lookups", lookups_}};
    }

  private:
    static constexpr unsigned parts = 2;
    static constexpr uint64_t entry_bytes = 16;
    struct Entry {
        uint64_t key = 0, frame = 0;
    };
    static unsigned part_of(const Page &page) { return page.size == 0 ? 0 : 1; }
    uint64_t index(const Page &page) const { return (page.number ^ page.space) % entries_; }
    uint64_t address(unsigned part, uint64_t index) const {
        return Kept::buffer + (part * entries_ + index) * entry_bytes;
    }

    const Ps trap_;
    const uint64_t entries_; // of each part
    std::vector<Entry> part_[parts];
    uint64_t hits_ = 0, misses_ = 0, lookups_ = 0;
};

} // namespace thermocline
