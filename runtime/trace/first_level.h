// The first level of the cache model, for what is inlined into the recorder's entries.
// Whatever is called from here keeps all registers, so that an entry saves no more than
// it needs itself.
#pragma once
#include "recorder.h"
#include "site_heap.h"
#include "tier_traffic.h"

namespace tc {

// The levels behind are asked for a line, or to take one back (if `wanted`).
[[gnu::always_inline]] inline void ask(Recorder &r, CacheLine line, bool wanted = true) {
    Waiting &waiting = r.waiting[1];
    waiting.lines[waiting.count] = line;
    waiting.count += wanted;
}

[[gnu::always_inline]] inline void serve_if_many(Recorder &r) {
    if (r.waiting[1].count + 2 > model.batch) [[unlikely]]
        serve(r);
}

// owner_of, with what is most often so decided on the spot.
[[gnu::always_inline]] inline uint32_t owner_here(const Recorder &r, uintptr_t address) {
    uintptr_t offset = address - site_heap_range.base;
    if (offset < site_heap_range.bytes) [[likely]] {
        uint32_t owner = __atomic_load_n(&site_heap_range.owners[offset >> site_heap_unit_shift],
                                         __ATOMIC_RELAXED);
        uint32_t site = owner & ~site_heap_medium;
        if (site - 1 < max_owner - first_site_owner) [[likely]]
            return first_site_owner + site;
    }
    if (uint32_t known = known_tier(address))
        return first_site_owner + known - 1;
    return owner_of(r, address);
}

// A way's `owned` is a CacheLine: dirty if it was before the way's counts.
[[gnu::always_inline]] inline CacheLine owned(const tc_way &way) { return CacheLine(way.owned); }

// A way's counts go to its owner; what it holds, dirty if they say so.
[[gnu::always_inline]] inline CacheLine settled(Recorder &r, tc_way &way) {
    Traffic &traffic = r.traffic[owned(way).owner()];
    uint64_t loads = way.loads, stores = way.stores;
    // Cleared first: a reader in between misses them for a moment, and counts none twice.
    __atomic_store_n(&way.loads, 0, __ATOMIC_RELAXED);
    __atomic_store_n(&way.stores, 0, __ATOMIC_RELAXED);
    add(traffic.loads, loads);
    add(traffic.stores, stores);
    return owned(way).dirty_if(stores != 0);
}

// Empties a way; what was in it is written back if it is dirty.
[[gnu::always_inline]] inline void evict(Recorder &r, tc_way &way) {
    // From here on, a handler's reference does not count for it.
    __atomic_store_n(&way.line, 0, __ATOMIC_RELAXED);
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    CacheLine victim = settled(r, way);
    ask(r, victim, victim.dirty());
}

// A block's way that holds a line, or null.
[[gnu::always_inline]] inline tc_way *holder(tc_way *block, uint64_t line) {
    uint64_t *lines = &block->line;
#pragma unroll
    for (unsigned i = 0; i < TC_BLOCK_WAYS; i++)
        if (lines[i] == line) [[unlikely]]
            return reinterpret_cast<tc_way *>(lines + i);
    return nullptr;
}

// The block's way that was used longest ago.  Without branches, and in pairs so that they
// wait less for each other: no way is more likely than another.
[[gnu::always_inline]] inline tc_way *oldest(tc_way *block) {
    struct Use {
        uint64_t stamp, *way;
    };
    auto older = [](Use a, Use b) {
        return Use{b.stamp < a.stamp ? b.stamp : a.stamp, b.stamp < a.stamp ? b.way : a.way};
    };
    uint64_t *lines = &block->line, *stamps = &block->stamp;
    auto pair = [&](unsigned i) {
        return older({stamps[i], lines + i}, {stamps[i + 1], lines + i + 1});
    };
    static_assert(TC_BLOCK_WAYS == 8);
    return reinterpret_cast<tc_way *>(older(older(pair(0), pair(2)), older(pair(4), pair(6))).way);
}

struct Found {
    tc_way *way;
    bool here; // or else it is the one to make room
};

// In sets of several blocks.
TC_PRESERVE Found look_for(tc_way *set, uint64_t blocks, uint64_t line);

// The way that holds a line, which is brought in if need be.
[[gnu::always_inline]] inline tc_way *bring_in(Recorder &r, uint64_t line) {
    // The program will want it next.
    thermocline::prefetch_line(reinterpret_cast<void *>(line << TC_LINE_SHIFT));
    uint32_t owner = owner_here(r, line << TC_LINE_SHIFT);
    uint64_t blocks = model.set_blocks;
    auto *set =
        reinterpret_cast<tc_way *>(r.blocks + model.first.of(line) * blocks * sizeof(tc_way));
    Found found;
    if (blocks == 1) [[likely]] {
        tc_way *way = holder(set, line);
        found = {way ? way : oldest(set), way != nullptr};
    } else {
        found = look_for(set, blocks, line);
    }
    tc_way *way = found.way;
    if (found.here) [[unlikely]] {
        // It may have changed hands.
        if (owned(*way).owner() != owner)
            way->owned = CacheLine(line, settled(r, *way).dirty(), owner).word();
    } else {
        serve_if_many(r);
        CacheLine wanted(line, false, owner);
        ask(r, wanted);
        evict(r, *way);
        way->owned = wanted.word();
        __atomic_signal_fence(__ATOMIC_SEQ_CST);
        way->line = line;
    }
    filter_entry(r, line) = way;
    return way;
}

// Runs a piece of the recorder's work, unless a signal's handler interrupted another one.
template <class Work> [[gnu::always_inline]] inline bool guarded(Recorder &r, Work work) {
    uintptr_t here = reinterpret_cast<uintptr_t>(__builtin_frame_address(0));
    if (r.busy && !take_over(r, here)) [[unlikely]]
        return false;
    r.busy = here;
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    work();
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    r.busy = 0;
    return true;
}

} // namespace tc
