// POM-TLB (Ryoo 2017, section 7.1): a TLB that is part of memory.  Sets of four entries of 16 bytes
// fill a line of 64, have an address, and so are cached as data are; one part is for small pages,
// one for large ones.  A predictor of 512 entries for each core says which part is looked up first
// and whether to go to memory at once, past the caches.
//
// What the thesis leaves open, and how it is here:
//   index      equation 7.1 shifts the address by 6, which would spread a page over many sets: the
//              page's number is meant, XORed with the space's
//   coherence  an entry that is written goes to memory at once, and copies in caches change with
//              it; bits of LRU change in place and cost no traffic, as in the thesis
//   bypass     the bit learns whether the last lookup found the line in no cache; past the caches
//              the line still comes into them ("TLB entries that are misses in data caches are
//              filled into the caches")
//   1 GiB      such pages have their entries among the large ones
// An entry is a key of the VM, the process and the page (64 bits here, as there) and a frame.
#pragma once
#include "simulator/memory/config.h"
#include "simulator/translation/last_level.h"

namespace thermocline {

class PomTlb : public LastLevel {
  public:
    // `large`: the share of the bytes that is for large pages; `caching`, `bypass`, `predictor`:
    // without them caches never hold it, are never passed by, or small pages always come first.
    // `neighbours`: four neighbouring pages share a set, and so a line in the caches (ours).
    PomTlb(const TranslationConfig &config, uint32_t cores)
        : caching_(config.options.value("caching", true)),
          bypass_(caching_ && config.options.value("bypass", true)),
          predictor_(config.options.value("predictor", true)),
          predictions_(size_t(cores) * predictor_entries) {
        const double large = config.options.value("large", 0.5);
        const uint64_t sets = config.buffer.bytes / line_bytes;
        if (!(large > 0 && large < 1) || uint64_t(double(sets) * large) == 0 ||
            uint64_t(double(sets) * large) == sets)
            throw ConfigError("pom: large must leave sets for both sizes of pages");
        for (Part &part : parts_)
            part.shift = config.options.value("neighbours", false) ? 2 : 0;
        parts_[1].init(Kept::buffer, uint64_t(double(sets) * large));
        parts_[0].init(Kept::buffer + parts_[1].sets * line_bytes, sets - parts_[1].sets);
    }

    uint64_t miss(uint32_t core, const Page &page, Walker &walker,
                  References &references) override {
        Prediction &said = predictions_[core * predictor_entries +
                                        (page.address() >> 12 & (predictor_entries - 1))];
        const unsigned mine = part_of(page), first = predictor_ ? said.large : 0;
        size_predictions_++;
        size_right_ += first == mine;
        const uint64_t *found = look_up(first, page, said, references);
        if (!found)
            found = look_up(1 - first, page, said, references);
        said.large = mine != 0;
        if (found)
            return *found;
        const uint64_t frame = walker.walk(page, references);
        Part &part = parts_[mine];
        part.insert(page, frame);
        references.refer(part.address(page), Via::write, 0);
        return frame;
    }
    void forget(const Page &page) override { parts_[part_of(page)].remove(page); }

    nlohmann::json statistics() const override {
        return {{"small", parts_[0].json()},
                {"large", parts_[1].json()},
                {"lookups", lookups_},
                {"found_at", found_at_},
                {"size_predictions", size_predictions_},
                {"size_predictions_right", size_right_},
                {"bypass_predictions", bypass_predictions_},
                {"bypass_predictions_right", bypass_right_}};
    }

  private:
    static constexpr uint64_t line_bytes = 64, predictor_entries = 512;
    static constexpr unsigned ways = 4;
    struct Prediction {
        uint8_t large = 0, bypass = 0;
    };
    struct Part {
        uint64_t base = 0, sets = 0;
        unsigned shift = 0;
        Buffer entries;
        void init(uint64_t address, uint64_t count) {
            base = address;
            sets = count;
            entries = Buffer({uint32_t(sets * ways), ways});
        }
        uint64_t number(const Page &page) const { return page.number >> shift ^ page.space; }
        uint64_t address(const Page &page) const { return base + number(page) % sets * line_bytes; }
        const uint64_t *find(const Page &page) { return entries.find(number(page), page.key()); }
        void insert(const Page &page, uint64_t frame) {
            entries.insert(number(page), page.key(), frame);
        }
        void remove(const Page &page) { entries.remove(number(page), page.key()); }
        nlohmann::json json() const {
            return {{"lookups", entries.statistics().lookups}, {"hits", entries.statistics().hits}};
        }
    };

    static unsigned part_of(const Page &page) { return page.size == 0 ? 0 : 1; }

    // Reads the set where the page would lie in that part.
    const uint64_t *look_up(unsigned number, const Page &page, Prediction &said,
                            References &references) {
        Part &part = parts_[number];
        const unsigned size = number == part_of(page) ? page.size : number;
        const Page there = Page::of(page.address(), page.space, size);
        const bool around = bypass_ && said.bypass;
        const Via via = !caching_ ? Via::memory : around ? Via::around : Via::caches;
        const uint32_t level = references.refer(part.address(there), via, 0);
        lookups_++;
        found_at_.resize(references.memory_level() + 1);
        found_at_[level]++;
        if (bypass_) {
            const bool absent = level == references.memory_level();
            bypass_predictions_++;
            bypass_right_ += absent == around;
            said.bypass = absent;
        }
        return part.find(there);
    }

    const bool caching_, bypass_, predictor_;
    Part parts_[2];
    std::vector<Prediction> predictions_; // by core
    std::vector<uint64_t> found_at_;      // lookups by the cache level that had the set
    uint64_t lookups_ = 0, size_predictions_ = 0, size_right_ = 0;
    uint64_t bypass_predictions_ = 0, bypass_right_ = 0;
};

} // namespace thermocline
