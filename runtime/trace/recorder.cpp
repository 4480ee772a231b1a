// The cache model, as a thread's references reach it.  Compiled without vector
// registers, which twins keep across calls.
//
// Levels neither include nor exclude each other: a line is brought into each level that
// missed it, and a dirty line that leaves a level is written to the next one, which
// takes it in if it isn't there.  A write-back counts as a use.
#include "recorder.h"

namespace tc {

Model model;

static constexpr uint64_t line_bytes = uint64_t(1) << TC_LINE_SHIFT;

static uint32_t owner_of_line(const Recorder &r, uint64_t line) {
    return owner_of(r, line << TC_LINE_SHIFT);
}

static void take(Recorder &r, unsigned char *lock) {
    r.held = lock;
    while (__atomic_exchange_n(lock, 1, __ATOMIC_ACQUIRE))
        while (__atomic_load_n(lock, __ATOMIC_RELAXED))
            __builtin_ia32_pause();
}

static void release(Recorder &r) {
    if (r.held)
        __atomic_store_n(r.held, 0, __ATOMIC_RELEASE);
    r.held = nullptr;
}

// The cache that serves a thread at a level; locked if it is shared.
static Cache &enter(Recorder &r, unsigned level, uint64_t line) {
    if (!model.geometry[level].shared)
        return r.own[level];
    Cache &cache = model.shared[level];
    take(r, model.locks[level] + cache.set_of(line) % lock_groups * lock_stride);
    return cache;
}

static void write_back(Recorder &r, unsigned level, uint64_t line);

static void leave(Recorder &r, unsigned level, CacheLine victim) {
    release(r);
    if (!victim.dirty())
        return;
    if (level + 1 == model.levels)
        add(r.traffic[victim.owner()].write_bytes, line_bytes);
    else
        write_back(r, level + 1, victim.line());
}

// A dirty line comes from the level above.
static void write_back(Recorder &r, unsigned level, uint64_t line) {
    uint32_t owner = owner_of_line(r, line);
    if (level == model.levels) {
        add(r.traffic[owner].write_bytes, line_bytes);
        return;
    }
    Cache &cache = enter(r, level, line);
    if (cache.touch_dirty(line, owner))
        release(r);
    else
        leave(r, level, cache.insert(line, true, owner));
}

// The level above misses a line.
static void request(Recorder &r, unsigned level, uint64_t line) {
    if (level == model.levels) {
        add(r.traffic[owner_of_line(r, line)].read_bytes, line_bytes);
        return;
    }
    Cache &cache = enter(r, level, line);
    if (cache.touch(line))
        return release(r);
    uint32_t owner = 0;
    if (level + 1 == model.levels) {
        owner = owner_of_line(r, line);
        add(r.traffic[owner].read_bytes, line_bytes);
    } else {
        release(r);
        request(r, level + 1, line);
        enter(r, level, line);
        // Another thread may have brought it in meanwhile.
        if (model.geometry[level].shared && cache.touch(line))
            return release(r);
    }
    leave(r, level, cache.insert(line, false, owner));
}

void settle(Recorder &r, uint32_t index) {
    tc_filter_entry &entry = r.twins.filter[index];
    if (!entry.line)
        return;
    FirstLevelWay &way = r.first_level[r.way[index]];
    way.stamp = entry.stamp;
    way.dirty |= entry.stores != 0;
    way.filter = not_filtered;
    Traffic &traffic = r.traffic[r.owner[index]];
    uint64_t loads = entry.loads, stores = entry.stores;
    // Cleared first: a reader in between misses them for a moment, and counts none twice.
    entry.line = 0;
    __atomic_store_n(&entry.loads, 0, __ATOMIC_RELAXED);
    __atomic_store_n(&entry.stores, 0, __ATOMIC_RELAXED);
    add(traffic.loads, loads);
    add(traffic.stores, stores);
}

static uint64_t last_use(const Recorder &r, const FirstLevelWay &way) {
    return way.filter == not_filtered ? way.stamp : r.twins.filter[way.filter].stamp;
}

static FirstLevelWay &evict(Recorder &r, FirstLevelWay *set) {
    FirstLevelWay *oldest = set;
    uint64_t oldest_use = last_use(r, *set);
    for (unsigned i = 1; i < model.geometry[0].ways; i++) {
        uint64_t use = last_use(r, set[i]);
        if (use < oldest_use) {
            oldest = set + i;
            oldest_use = use;
        }
    }
    if (oldest->filter != not_filtered)
        settle(r, oldest->filter);
    if (oldest->line && oldest->dirty)
        write_back(r, 1, oldest->line);
    return *oldest;
}

static FirstLevelWay *first_level_set(const Recorder &r, uint64_t line) {
    uint64_t set = model.first_mask ? line & model.first_mask : line % model.first_sets;
    return r.first_level + set * model.geometry[0].ways;
}

static void bring_into_filter(Recorder &r, uint64_t line) {
    uint32_t index = uint32_t(filter_offset(line) >> TC_ENTRY_SHIFT);
    settle(r, index);
    FirstLevelWay *set = first_level_set(r, line), *way = nullptr;
    for (unsigned i = 0; i < model.geometry[0].ways && !way; i++)
        if (set[i].line == line)
            way = set + i;
    if (!way) {
        request(r, 1, line);
        way = &evict(r, set);
        way->line = line;
        way->stamp = 0;
        way->dirty = false;
    }
    way->filter = index;
    r.way[index] = uint32_t(way - r.first_level);
    r.owner[index] = owner_of_line(r, line);
    r.twins.filter[index].stamp = r.twins.clock;
    r.twins.filter[index].line = line;
}

void miss(Recorder &r, uint64_t line) {
    uintptr_t here = reinterpret_cast<uintptr_t>(__builtin_frame_address(0));
    if (r.busy) {
        // A signal's handler runs twins on top of a miss: that one has to finish first.
        if (here < r.busy)
            return;
        // The handler never returned to the miss (longjmp): it is abandoned.
        release(r);
    }
    r.busy = here;
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    bring_into_filter(r, line);
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    r.busy = 0;
}

void drain(Recorder &r) {
    for (uint32_t i = 0; i < TC_FILTER_ENTRIES; i++)
        settle(r, i);
    for (uint64_t i = 0; i < model.first_sets * model.geometry[0].ways; i++) {
        FirstLevelWay way = r.first_level[i];
        r.first_level[i] = {0, 0, not_filtered, false};
        if (way.line && way.dirty)
            write_back(r, 1, way.line);
    }
    for (unsigned level = 1; level < model.levels; level++)
        if (!model.geometry[level].shared)
            r.own[level].drain([&](CacheLine line) {
                if (line.dirty() && level + 1 == model.levels)
                    add(r.traffic[line.owner()].write_bytes, line_bytes);
                else if (line.dirty())
                    write_back(r, level + 1, line.line());
            });
}

} // namespace tc
