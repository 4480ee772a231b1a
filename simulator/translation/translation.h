// Address translation of all cores: TLBs, and what is behind them.  What each structure holds
// changes in program order, when a reference is dispatched; when translations arrive is walks.h's
// business.  Knows of nothing but addresses, so that it can be run by itself.
#pragma once
#include "simulator/translation/coalesced.h"
#include "simulator/translation/last_level.h"

namespace thermocline {

// What a structure that the frames come from had.
enum class ServedBy : uint8_t { first, second, missed };

class Translation {
  public:
    Translation(const TranslationConfig &config, uint32_t cores)
        : config_(config), last_(make_last_level(config_, cores)),
          second_(last_->second(config_, cores)) {
        const uint32_t spaces =
            config_.spaces.empty()
                ? 1
                : *std::max_element(config_.spaces.begin(), config_.spaces.end()) + 1;
        for (uint32_t space = 0; space < spaces; space++)
            tables_.push_back(std::make_unique<SpaceTables>(config_.levels, table_pages_));
        cores_.reserve(cores);
        for (uint32_t core = 0; core < cores; core++)
            cores_.emplace_back(config_, second_.entries, second_.shared && core > 0, tables_);
    }
    Translation(const Translation &) = delete;

    // The frame of an address, and who had it; a miss's references go to `references`.
    struct Answer {
        uint64_t frame;
        ServedBy served;
    };
    Answer look_up(uint32_t number, uint32_t space, uint64_t address, References &references) {
        Core &core = cores_[number];
        const uint64_t small = Page::of(address, space, 0).key();
        if (small == core.last_small) { // its entry is the first of its set
            core.first[core.last_size].found_again();
            return {core.last_frame, ServedBy::first};
        }
        const Page page = Page::of(address, space, config_.pages.of(address, space));
        const uint64_t key = page.key();
        const uint64_t *found = core.first[page.size].find(page.number, key);
        Answer answer{0, ServedBy::first};
        if (found) {
            answer.frame = *found;
        } else {
            answer = beyond(number, page, key, references);
            core.first[page.size].insert(page.number, key, answer.frame);
        }
        if (config_.first[page.size].entries) {
            core.last_small = small;
            core.last_size = page.size;
            core.last_frame = answer.frame;
        }
        return answer;
    }

    // The page that an address of the space is in has another frame from now on: the entries
    // of all cores, and what lies in memory, are gone before anybody looks again.
    void shoot_down(uint32_t space, uint64_t address) {
        const Page page = Page::of(address, space, config_.pages.of(address, space));
        SpaceTables &tables = *tables_[space];
        const uint64_t frame = tables.own.look(page);
        if (frame == 0)
            return; // nobody has asked for it
        shootdowns_++;
        Page guest_physical;
        if (config_.nested) {
            guest_physical =
                Page::of(SpaceTables::guest_address(frame - 1, page.size), space, page.size);
            tables.host.unmap(guest_physical);
        } else {
            tables.own.unmap(page);
        }
        for (Core &core : cores_) {
            core.last_small = 0;
            core.first[page.size].remove(page.number, page.key());
            if (coalesces(page))
                coalesced_of(core).remove(page);
            else
                second_of(core, page.size).remove(page.number, page.key());
            if (config_.nested)
                core.walker.forget(guest_physical);
        }
        last_->forget(page);
    }
    // The same, whatever space it is of.
    void shoot_down(uint64_t address) {
        for (uint32_t space = 0; space < tables_.size(); space++)
            shoot_down(space, address);
    }

    // What the page tables say of an address: the frame + 1 that a translation has to have; 0 if
    // nobody has asked yet.
    uint64_t mapped(uint32_t space, uint64_t address) const {
        const Page page = Page::of(address, space, config_.pages.of(address, space));
        const uint64_t frame = tables_[space]->own.look(page);
        if (!config_.nested || frame == 0)
            return frame;
        return tables_[space]->host.look(
            Page::of(SpaceTables::guest_address(frame - 1, page.size), space, page.size));
    }

    const TranslationConfig &config() const { return config_; }
    Ps second_ps() const { return second_.time; }
    uint64_t table_bytes() const { return table_pages_.next * PageTables::table_bytes; }
    uint32_t cores() const { return uint32_t(cores_.size()); }
    BufferStatistics first(uint32_t core, unsigned size) const {
        return cores_[core].first[size].statistics();
    }
    // Of a core; a shared one is the first core's.
    BufferStatistics second(uint32_t core) const {
        return config_.coalesce ? cores_[core].coalesced.statistics()
                                : cores_[core].second.statistics();
    }
    BufferStatistics second_huge(uint32_t core) const {
        return cores_[core].second_huge.statistics();
    }
    const Walker &walker(uint32_t core) const { return cores_[core].walker; }
    const LastLevel &last() const { return *last_; }
    uint64_t shootdowns() const { return shootdowns_; }

  private:
    struct Core {
        Core(const TranslationConfig &config, const BufferConfig &second_config, bool shares,
             std::vector<std::unique_ptr<SpaceTables>> &tables)
            : second(shares || config.coalesce ? BufferConfig{} : second_config),
              second_huge(config.second_huge),
              coalesced(shares || !config.coalesce ? BufferConfig{} : second_config,
                        config.coalesce),
              walker(config, tables) {
            for (unsigned size = 0; size < page_sizes; size++)
                first[size] = Buffer(config.first[size]);
        }
        std::array<Buffer, page_sizes> first;
        Buffer second, second_huge;
        Coalesced coalesced; // in place of `second`, if entries hold several pages
        Walker walker;
        uint64_t last_small = 0, last_frame = 0; // the page of the last reference; 0: none
        unsigned last_size = 0;
    };

    Buffer &second_of(Core &core, unsigned size) {
        if (size == 2)
            return core.second_huge;
        return second_.shared ? cores_[0].second : core.second;
    }

    bool coalesces(const Page &page) const { return config_.coalesce && page.size < 2; }
    Coalesced &coalesced_of(Core &core) {
        return second_.shared ? cores_[0].coalesced : core.coalesced;
    }
    // What a walk reads is a line of the page table: the neighbours are known with the page.  A
    // buffer in memory tells of one page.
    Answer beyond_coalesced(uint32_t number, const Page &page, References &references) {
        Core &core = cores_[number];
        Coalesced &second = coalesced_of(core);
        if (const auto found = second.find(page))
            return {*found, ServedBy::second};
        const uint64_t walks = core.walker.statistics().walks;
        const uint64_t frame = last_->miss(number, page, core.walker, references);
        const bool walked = core.walker.statistics().walks > walks;
        second.insert(page, frame, [&](const Page &other) -> std::optional<uint64_t> {
            const uint64_t address = other.address();
            if (!walked || config_.pages.of(address, page.space) != page.size)
                return {};
            const uint64_t known = mapped(page.space, address);
            return known ? std::optional(known - 1) : std::nullopt;
        });
        return {frame, ServedBy::missed};
    }

    Answer beyond(uint32_t number, const Page &page, uint64_t key, References &references) {
        if (coalesces(page))
            return beyond_coalesced(number, page, references);
        Core &core = cores_[number];
        Buffer &second = second_of(core, page.size);
        if (const uint64_t *found = second.find(page.number, key))
            return {*found, ServedBy::second};
        const uint64_t frame = last_->miss(number, page, core.walker, references);
        second.insert(page.number, key, frame);
        return {frame, ServedBy::missed};
    }

    const TranslationConfig config_;
    const std::unique_ptr<LastLevel> last_;
    const LastLevel::Second second_;
    Counter table_pages_;
    std::vector<std::unique_ptr<SpaceTables>> tables_; // by space
    std::vector<Core> cores_;
    uint64_t shootdowns_ = 0;
};

} // namespace thermocline
