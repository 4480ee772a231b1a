// Page walks, native and nested, of one core: its page-walk caches and its nested TLB.
//
// Native: one reference a level, from the root or from where a page-walk cache leads, to the
// page's entry: 4 at most with 4 levels.  Nested (two-dimensional): guest tables lie at
// guest-physical addresses, so that each guest level is a walk of the host's tables and a
// reference, and the page's own guest-physical address is a host walk more: 4 * 5 + 4 = 24.
// A guest's page-walk caches hold tables' host addresses and so spare the host walk too.
#pragma once
#include "simulator/translation/parameters.h"
#include "simulator/translation/references.h"
#include <algorithm>
#include <memory>

namespace thermocline {

// The tables of one address space; under nested translation the guest's, and its host's.
struct SpaceTables {
    PageTables own, host;
    SpaceTables(unsigned levels, Counter &tables) : own(levels, tables), host(levels, tables) {}
    SpaceTables(const SpaceTables &) = delete;

    // Guest-physical addresses: tables lie where their page's number says, and each size of pages
    // has a part of its own, large enough for what 47 bits can address.
    static uint64_t guest_address(uint64_t frame, unsigned size) {
        return (uint64_t(size + 1) << 45) + (frame << page_bits(size));
    }
    std::array<Counter, page_sizes> guest_frames;
    Counter frames; // the host's, or of a native system: a new number at each mapping
};

struct WalkStatistics {
    uint64_t walks = 0, references = 0;
    uint64_t most = 0; // references of one walk
};

class Walker {
  public:
    Walker(const TranslationConfig &config, std::vector<std::unique_ptr<SpaceTables>> &tables)
        : config_(config), tables_(tables), nested_tlb_(config.nested_tlb) {
        for (unsigned level = 0; level < PageTables::most_levels; level++) {
            guest_.caches[level] = Buffer(config.walk_caches[level]);
            host_.caches[level] = Buffer(config.walk_caches[level]);
        }
    }

    // The page's frame.
    uint64_t walk(const Page &page, References &references) {
        SpaceTables &tables = *tables_[page.space];
        const uint64_t before = statistics_.references;
        references.pass(config_.walk_cache_ps);
        const uint64_t frame =
            config_.nested ? nested(page, tables, references) : native(page, tables, references);
        statistics_.walks++;
        statistics_.most = std::max(statistics_.most, statistics_.references - before);
        return frame;
    }

    const WalkStatistics &statistics() const { return statistics_; }
    const Buffer &guest_cache(unsigned level) const { return guest_.caches[level]; }
    const Buffer &host_cache(unsigned level) const { return host_.caches[level]; }
    const Buffer &nested_tlb() const { return nested_tlb_; }

    // A guest-physical page that is mapped no more.
    void forget(const Page &guest_physical) {
        nested_tlb_.remove(guest_physical.number, guest_physical.key());
    }

  private:
    struct Dimension {
        std::array<Buffer, PageTables::most_levels> caches;
    };

    void refer(uint64_t entry, References &references) {
        references.refer(Kept::first + entry, Via::caches, 0);
        statistics_.references++;
    }

    // The first level whose entry has to be read: the one below the lowest that is cached.  What
    // is read on the way to the page's size will be cached.
    unsigned enter(Dimension &dimension, const Page &page, unsigned levels) {
        for (unsigned level = page.size + 1; level < levels; level++) {
            const Page above = Page::of(page.address(), page.space, 0);
            const uint64_t number = above.number >> 9 * level;
            if (dimension.caches[level].find(number, key(number, page.space)))
                return level - 1;
        }
        return levels - 1;
    }
    void keep(Dimension &dimension, const Page &page, unsigned level) {
        const uint64_t number = page.address() >> page_bits(level);
        dimension.caches[level].insert(number, key(number, page.space), 1);
    }
    static uint64_t key(uint64_t number, uint32_t space) { return Page{number, space, 0}.key(); }

    uint64_t native(const Page &page, SpaceTables &tables, References &references) {
        return dimension(guest_, page, tables.own, tables.frames, references);
    }

    uint64_t dimension(Dimension &caches, const Page &page, PageTables &tables, Counter &frames,
                       References &references) {
        PageTables::Path path;
        const uint64_t frame = tables.find(page, path, [&] { return frames.take(); });
        unsigned level = enter(caches, page, tables.levels());
        for (;; level--) {
            refer(path[level], references);
            if (level == page.size)
                return frame;
            keep(caches, page, level);
        }
    }

    uint64_t nested(const Page &page, SpaceTables &tables, References &references) {
        PageTables::Path path;
        const uint64_t guest_frame =
            tables.own.find(page, path, [&] { return tables.guest_frames[page.size].take(); });
        const unsigned top = tables.own.levels() - 1, entered = enter(guest_, page, top + 1);
        for (unsigned level = entered;; level--) {
            if (level == top || level != entered)
                host(Page::of(path[level], page.space, 0), tables, references);
            refer(path[level], references);
            if (level == page.size)
                break;
            keep(guest_, page, level);
        }
        const uint64_t address = SpaceTables::guest_address(guest_frame, page.size);
        return host(Page::of(address, page.space, page.size), tables, references);
    }

    // A host page is as large as the guest's page that lies in it; tables lie in small ones.
    uint64_t host(const Page &guest_physical, SpaceTables &tables, References &references) {
        references.pass(config_.nested_tlb_ps);
        const uint64_t key = guest_physical.key();
        if (const uint64_t *known = nested_tlb_.find(guest_physical.number, key))
            return *known;
        const uint64_t frame =
            dimension(host_, guest_physical, tables.host, tables.frames, references);
        nested_tlb_.insert(guest_physical.number, key, frame);
        return frame;
    }

    const TranslationConfig &config_;
    std::vector<std::unique_ptr<SpaceTables>> &tables_; // by space
    Dimension guest_, host_;
    Buffer nested_tlb_;
    WalkStatistics statistics_;
};

} // namespace thermocline
