// A second-level TLB whose entries hold several pages: neighbours of an aligned group whose frames
// are as contiguous as they are, as AMD's processors since Zen and, more generally, CoLT have it
// (Pham et al., "CoLT: Coalesced large-reach TLBs", MICRO 2012).  An entry is the group, the frame
// that its first page would have, and a bit for each page that is known to fit.
#pragma once
#include "simulator/translation/buffer.h"
#include "simulator/translation/page.h"
#include <algorithm>
#include <optional>

namespace thermocline {

class Coalesced {
  public:
    static constexpr unsigned most = 8; // pages: entries of a page table's line

    Coalesced() = default;
    // `shift`: of the pages in a group, as a power of two.
    Coalesced(const BufferConfig &config, unsigned shift)
        : ways_(config.ways), shift_(shift),
          sets_(config.entries ? config.entries / config.ways : 1), entries_(config.entries) {}

    // The page's frame; counts, and makes its entry the last one used.
    std::optional<uint64_t> find(const Page &page) {
        statistics_.lookups++;
        Entry *at = look(page, [&](const Entry &entry) { return entry.pages & bit(page); });
        if (!at)
            return {};
        statistics_.hits++;
        return to_front(page, at).base + index(page);
    }

    // The page is in no entry.  `known(page)`: the frame of another page of the group if it is
    // known too.
    template <class Known> void insert(const Page &page, uint64_t frame, Known known) {
        if (entries_.empty())
            return;
        const uint64_t base = frame - index(page); // may wrap: only sums are looked at
        uint8_t pages = bit(page);
        for (unsigned i = 0; i < 1u << shift_; i++) {
            const Page other{(page.number >> shift_ << shift_) + i, page.space, page.size};
            if (other.number != page.number && known(other) == base + i)
                pages |= uint8_t(1 << i);
        }
        if (Entry *at = look(page, [&](const Entry &entry) { return entry.base == base; })) {
            to_front(page, at).pages |= pages;
            return;
        }
        Entry *set = set_of(page);
        std::move_backward(set, set + ways_ - 1, set + ways_);
        set[0] = {key(page), base, pages};
    }

    void remove(const Page &page) {
        Entry *at = look(page, [&](const Entry &entry) { return entry.pages & bit(page); });
        if (!at)
            return;
        at->pages &= uint8_t(~bit(page));
        if (at->pages)
            return;
        Entry *end = set_of(page) + ways_;
        std::move(at + 1, end, at);
        end[-1] = {};
    }

    const BufferStatistics &statistics() const { return statistics_; }

  private:
    struct Entry {
        uint64_t key = 0, base = 0; // key 0: empty
        uint8_t pages = 0;
    };
    uint64_t index(const Page &page) const { return page.number & ((1u << shift_) - 1); }
    uint8_t bit(const Page &page) const { return uint8_t(1 << index(page)); }
    uint64_t key(const Page &page) const {
        return Page{page.number >> shift_, page.space, page.size}.key();
    }
    Entry *set_of(const Page &page) { return &entries_[(page.number >> shift_) % sets_ * ways_]; }
    template <class Fits> Entry *look(const Page &page, Fits fits) {
        if (entries_.empty())
            return nullptr;
        Entry *set = set_of(page);
        for (uint32_t way = 0; way < ways_; way++)
            if (set[way].key == key(page) && fits(set[way]))
                return &set[way];
        return nullptr;
    }
    Entry &to_front(const Page &page, Entry *at) {
        Entry *set = set_of(page);
        std::rotate(set, at, at + 1);
        return set[0];
    }

    uint32_t ways_ = 1;
    unsigned shift_ = 0;
    uint64_t sets_ = 1;
    std::vector<Entry> entries_; // a set's in order of use
    BufferStatistics statistics_;
};

} // namespace thermocline
