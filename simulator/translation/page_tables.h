// Radix page tables of one address space, made at first use, with 512 entries of 8 bytes in each.
// A table lies in a page of the memory that is kept for tables (kept.h).
#pragma once
#include "simulator/translation/page.h"
#include <array>
#include <cstddef>
#include <memory>
#include <vector>

namespace thermocline {

// Numbers of pages that nobody has yet.
struct Counter {
    uint64_t next = 0;
    uint64_t take() { return next++; }
};

class PageTables {
  public:
    static constexpr unsigned most_levels = 5;
    static constexpr uint64_t entry_bytes = 8, table_bytes = 4096;

    // Levels are counted from the leaves of the smallest pages, 0, to the root, levels - 1.
    PageTables(unsigned levels, Counter &tables) : levels_(levels), tables_(tables) { add_table(); }

    unsigned levels() const { return levels_; }

    // Where the entries of a page lie in the tables' memory, by level from the page's size up.
    using Path = std::array<uint64_t, most_levels>;
    // The page's frame; a page that has none gets one by take().
    template <class Take> uint64_t find(const Page &page, Path &path, Take take) {
        const uint64_t address = page.address();
        size_t table = 0;
        for (unsigned level = levels_ - 1;; level--) {
            const unsigned slot = unsigned(address >> page_bits(level)) & 511;
            path[level] = pages_[table] * table_bytes + slot * entry_bytes;
            uint64_t entry = (*entries_[table])[slot];
            if (level == page.size) {
                if (entry == 0)
                    (*entries_[table])[slot] = entry = take() + 1;
                return entry - 1;
            }
            if (entry == 0) {
                entry = entries_.size();
                (*entries_[table])[slot] = entry;
                add_table();
            }
            table = entry;
        }
    }

    // The page's frame + 1; 0: it has none.
    uint64_t look(const Page &page) const {
        const uint64_t *found = entry(page);
        return found ? *found : 0;
    }
    // The page gets another frame when it is next looked for.
    void unmap(const Page &page) {
        if (uint64_t *found = const_cast<uint64_t *>(entry(page)))
            *found = 0;
    }

  private:
    using Entries = std::array<uint64_t, 512>; // a table's number, or a frame's + 1; 0: none
    const uint64_t *entry(const Page &page) const {
        size_t table = 0;
        for (unsigned level = levels_ - 1;; level--) {
            const uint64_t &here =
                (*entries_[table])[unsigned(page.address() >> page_bits(level)) & 511];
            if (level == page.size)
                return &here;
            if (here == 0)
                return nullptr;
            table = here;
        }
    }
    void add_table() {
        entries_.push_back(std::make_unique<Entries>());
        pages_.push_back(tables_.take());
    }

    const unsigned levels_;
    Counter &tables_;
    std::vector<std::unique_ptr<Entries>> entries_; // by table; the root is the first
    std::vector<uint64_t> pages_;                   // where each table lies
};

} // namespace thermocline
