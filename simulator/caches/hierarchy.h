// The contents of all caches.  They change in program order, when a reference is dispatched,
// so that for one thread the traffic is exactly that of docs/trace-profile.md's model; when
// things arrive is none of this file's business.
#pragma once
#include "simulator/cache.h"
#include "simulator/translation/references.h"
#include <array>
#include <cstdlib>
#include <memory>
#include <new>
#include <vector>

namespace thermocline {

struct LevelConfig {
    CacheGeometry geometry;
    uint32_t shared_by = 1; // cores
};

// Dirty lines that left the last level, owed to memory.
struct Writebacks {
    uint32_t count = 0;
    std::array<CacheLine, 16> line;
};

class Hierarchy {
  public:
    static constexpr uint32_t max_levels = 4;

    Hierarchy(const std::vector<LevelConfig> &levels, uint32_t cores)
        : levels_(uint32_t(levels.size())) {
        caches_.resize(size_t(cores) * levels_);
        for (uint32_t level = 0; level < levels_; level++) {
            const LevelConfig &config = levels[level];
            for (uint32_t core = 0; core < cores; core++)
                at(core, level) =
                    core % config.shared_by == 0 ? make(config.geometry) : at(core - 1, level);
        }
    }

    uint32_t levels() const { return levels_; }

    // Lines that translation keeps to itself (page tables, buffers in memory) stay in a set before
    // data, whoever was used longer ago, as long as they have no more than this share of its ways
    // (Ryoo 2017, section 8.2.2, wishes for such a replacement).
    void keep_translation(double share) { kept_share_ = share; }

    // Refers to a line; the level that had it, or levels() if it comes from memory.
    uint32_t refer(uint32_t core, uint64_t line, bool store, uint32_t owner, Writebacks &out) {
        Cache &first = at(core, 0);
        uint64_t *set = first.set(line);
        const unsigned way = first.find(set, line);
        if (way < first.ways()) {
            const CacheLine here(set[way]);
            const CacheLine word(line, here.dirty() || store, here.owner());
            if (way == 0)
                set[0] = word.word();
            else
                first.put_first(set, way, word.word());
            return 0;
        }
        const uint32_t level = bring(core, 0, line, owner, out);
        if (store) {
            set = first.set(line);
            set[0] = CacheLine(line, true, owner).word();
        }
        return level;
    }

    // Loads a line past the levels before `first`, as a page walker may.
    uint32_t load(uint32_t core, uint32_t first, uint64_t line, uint32_t owner, Writebacks &out) {
        Cache &cache = at(core, first);
        uint64_t *set = cache.set(line);
        const unsigned way = cache.find(set, line);
        if (way == cache.ways())
            return bring(core, first, line, owner, out);
        cache.put_first(set, way, set[way]);
        return first;
    }

    // The line will be referred to soon: its set in the last level comes into the host's caches.
    void expect(uint32_t core, uint64_t line) const {
        caches_[size_t(core) * levels_ + levels_ - 1].prefetch(line);
    }

    // Brings a line as far as a level, as a prefetcher does.
    uint32_t prefetch(uint32_t core, uint32_t level, uint64_t line, uint32_t owner,
                      Writebacks &out) {
        const Cache &cache = at(core, level);
        if (cache.find(cache.set(line), line) < cache.ways())
            return level;
        return bring(core, level, line, owner, out);
    }

  private:
    struct Free {
        void operator()(uint64_t *words) const { free(words); }
    };

    Cache &at(uint32_t core, uint32_t level) { return caches_[size_t(core) * levels_ + level]; }

    Cache make(const CacheGeometry &geometry) {
        const size_t bytes = (Cache::words(geometry) * sizeof(uint64_t) + 63) / 64 * 64;
        memory_.emplace_back(static_cast<uint64_t *>(std::aligned_alloc(64, bytes)));
        if (!memory_.back())
            throw std::bad_alloc();
        std::fill_n(memory_.back().get(), bytes / sizeof(uint64_t), 0);
        Cache cache;
        cache.init(geometry, memory_.back().get());
        return cache;
    }

    // `to` has missed the line: it comes into all levels that miss it, the far ones first.
    uint32_t bring(uint32_t core, uint32_t to, uint64_t line, uint32_t owner, Writebacks &out) {
        uint32_t found = to + 1;
        for (; found < levels_; found++) {
            Cache &cache = at(core, found);
            uint64_t *set = cache.set(line);
            const unsigned way = cache.find(set, line);
            if (way < cache.ways()) {
                cache.put_first(set, way, set[way]);
                break;
            }
        }
        for (uint32_t level = found; level-- > to;)
            put(core, level, CacheLine(line, false, owner), out);
        return found;
    }

    // In place of the line that was used longest ago, which goes on to the next level if dirty.
    void put(uint32_t core, uint32_t level, CacheLine line, Writebacks &out) {
        for (; level < levels_; level++) {
            Cache &cache = at(core, level);
            uint64_t *set = cache.set(line.line());
            const unsigned goes = kept_share_ > 0 ? spare(cache, set) : cache.ways() - 1;
            const CacheLine victim(set[goes]);
            cache.put_first(set, goes, line.word());
            if (!victim.present() || !victim.dirty())
                return;
            // A write-back: the next level takes it in, if it isn't there.
            line = victim;
            if (level + 1 < levels_) {
                Cache &next = at(core, level + 1);
                uint64_t *there = next.set(line.line());
                const unsigned way = next.find(there, line.line());
                if (way < next.ways()) {
                    next.put_first(there, way, line.word());
                    return;
                }
            }
        }
        out.line[out.count++] = line;
    }

    static bool is_translation(CacheLine line) {
        return line.present() && Kept::holds(line.line() * line_bytes);
    }
    // The position of the line that goes: the one used longest ago, or in its place a line of data.
    unsigned spare(const Cache &cache, const uint64_t *set) const {
        const unsigned last = cache.ways() - 1;
        if (!is_translation(CacheLine(set[last])))
            return last;
        unsigned kept = 0, data = last;
        for (unsigned way = 0; way <= last; way++)
            if (is_translation(CacheLine(set[way])))
                kept++;
            else
                data = way;
        return double(kept) <= kept_share_ * cache.ways() ? data : last;
    }

    static constexpr uint64_t line_bytes = 64;
    const uint32_t levels_;
    double kept_share_ = 0;
    std::vector<Cache> caches_; // by core, then level; shared ones are the same memory
    std::vector<std::unique_ptr<uint64_t, Free>> memory_;
};

} // namespace thermocline
