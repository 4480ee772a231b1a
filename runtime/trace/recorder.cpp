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

// No level's contents depend on what the next one finds, so what it is asked waits in a
// queue, in order, until its memory is at hand.
static void serve(Recorder &r, unsigned level);

static void ask(Recorder &r, unsigned level, uint64_t line, bool write_back) {
    if (level == model.levels) { // memory
        Traffic &traffic = r.traffic[owner_of_line(r, line)];
        add(write_back ? traffic.write_bytes : traffic.read_bytes, line_bytes);
        return;
    }
    (model.geometry[level].shared ? model.shared[level] : r.own[level]).prefetch(line);
    Waiting &waiting = r.waiting[level];
    waiting.lines[waiting.count++] = line << 1 | write_back;
    if (waiting.count == queue_length)
        serve(r, level);
}

static void leave(Recorder &r, unsigned level, CacheLine victim) {
    release(r);
    if (!victim.dirty())
        return;
    if (level + 1 == model.levels)
        add(r.traffic[victim.owner()].write_bytes, line_bytes);
    else
        ask(r, level + 1, victim.line(), true);
}

// A dirty line comes from the level above.
static void write_back(Recorder &r, unsigned level, uint64_t line) {
    // Only the last level has to know whose its lines are.
    uint32_t owner = level + 1 == model.levels ? owner_of_line(r, line) : 0;
    Cache &cache = enter(r, level, line);
    if (cache.touch_dirty(line, owner))
        release(r);
    else
        leave(r, level, cache.insert(line, true, owner));
}

// The level above misses a line.
static void request(Recorder &r, unsigned level, uint64_t line) {
    Cache &cache = enter(r, level, line);
    if (cache.touch(line))
        return release(r);
    uint32_t owner = 0;
    if (level + 1 == model.levels) {
        owner = owner_of_line(r, line);
        add(r.traffic[owner].read_bytes, line_bytes);
    } else {
        ask(r, level + 1, line, false);
    }
    leave(r, level, cache.insert(line, false, owner));
}

static void serve(Recorder &r, unsigned level) {
    Waiting &waiting = r.waiting[level];
    for (unsigned i = 0; i < waiting.count; i++) {
        uint64_t line = waiting.lines[i] >> 1;
        if (waiting.lines[i] & 1)
            write_back(r, level, line);
        else
            request(r, level, line);
    }
    waiting.count = 0;
}

static void serve_all(Recorder &r) {
    for (unsigned level = 1; level < model.levels; level++)
        serve(r, level);
}

void settle(Recorder &r, uint32_t index) {
    tc_filter_entry &entry = r.twins.filter[index];
    if (!entry.line)
        return;
    uint32_t way = r.way[index];
    r.first.stamp[way] = entry.stamp;
    r.first.last_use[way] = &r.first.stamp[way];
    r.first.dirty[way] |= entry.stores != 0;
    r.first.filter[way] = not_filtered;
    Traffic &traffic = r.traffic[r.owner[index]];
    uint64_t loads = entry.loads, stores = entry.stores;
    // Cleared first: a reader in between misses them for a moment, and counts none twice.
    entry.line = 0;
    __atomic_store_n(&entry.loads, 0, __ATOMIC_RELAXED);
    __atomic_store_n(&entry.stores, 0, __ATOMIC_RELAXED);
    add(traffic.loads, loads);
    add(traffic.stores, stores);
}

// The least recently used way of a set, its line gone.
static uint64_t evict(Recorder &r, uint64_t set) {
    uint64_t oldest = set, oldest_use = *r.first.last_use[set];
    // Without branches: no way is more likely than another.
    for (uint64_t way = set + 1; way < set + model.geometry[0].ways; way++) {
        uint64_t use = *r.first.last_use[way];
        oldest = use < oldest_use ? way : oldest;
        oldest_use = use < oldest_use ? use : oldest_use;
    }
    if (r.first.filter[oldest] != not_filtered)
        settle(r, r.first.filter[oldest]);
    if (r.first.dirty[oldest])
        ask(r, 1, r.first.line[oldest], true);
    return oldest;
}

static void bring_into_filter(Recorder &r, uint64_t line) {
    uint32_t index = uint32_t(filter_offset(line) >> TC_ENTRY_SHIFT);
    // The program will want it next, and what follows takes as long as memory does.
    thermocline::prefetch_line(reinterpret_cast<void *>(line << TC_LINE_SHIFT));
    settle(r, index);
    uint64_t set = model.first_mask ? line & model.first_mask : line % model.first_sets;
    set *= model.geometry[0].ways;
    uint64_t way = ~uint64_t(0);
    for (uint64_t i = set; i < set + model.geometry[0].ways; i++)
        way = r.first.line[i] == line ? i : way;
    if (way == ~uint64_t(0)) {
        ask(r, 1, line, false);
        way = evict(r, set);
        r.first.line[way] = line;
        r.first.dirty[way] = 0;
    }
    tc_filter_entry &entry = r.twins.filter[index];
    r.first.filter[way] = index;
    r.first.last_use[way] = &entry.stamp;
    r.way[index] = uint32_t(way);
    r.owner[index] = owner_of_line(r, line);
    entry.line = line;
}

// Runs a piece of the recorder's work, unless a signal's handler interrupted another one.
template <class Work> static void guarded(Recorder &r, Work work) {
    uintptr_t here = reinterpret_cast<uintptr_t>(__builtin_frame_address(0));
    if (r.busy) {
        // The handler runs on top of it: that one has to finish first.
        if (here < r.busy)
            return;
        // The handler never returned to it (longjmp): it is abandoned.
        release(r);
        for (Waiting &waiting : r.waiting)
            waiting.count = 0;
    }
    r.busy = here;
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    work();
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    r.busy = 0;
}

void miss(Recorder &r, uint64_t line) {
    guarded(r, [&] { bring_into_filter(r, line); });
}

void flush(Recorder &r) {
    guarded(r, [&] { serve_all(r); });
}

void drain(Recorder &r) {
    for (uint32_t i = 0; i < TC_FILTER_ENTRIES; i++)
        settle(r, i);
    for (uint64_t way = 0; way < model.first_sets * model.geometry[0].ways; way++) {
        if (r.first.dirty[way])
            ask(r, 1, r.first.line[way], true);
        r.first.line[way] = 0;
        r.first.stamp[way] = 0;
        r.first.dirty[way] = 0;
    }
    serve_all(r);
    for (unsigned level = 1; level < model.levels; level++) {
        if (!model.geometry[level].shared)
            r.own[level].drain([&](CacheLine line) { leave(r, level, line); });
        serve_all(r);
    }
}

} // namespace tc
