// The first level of the cache model, as a thread's references reach it.  Compiled
// without vector registers, which twins keep across calls; what misses waits for the
// levels behind (levels.h), which are served in batches that may use them.
#include "recorder.h"

namespace tc {

Model model;

static void serve(Recorder &r) {
    // A second thread sets `several` and then waits while `serving` is set.
    __atomic_store_n(&r.serving, 1, __ATOMIC_SEQ_CST);
    r.locks = __atomic_load_n(&model.several, __ATOMIC_SEQ_CST);
    if (model.vectors) {
        // SSE, AVX, and AVX-512's three parts, as far as the processor has them.
        constexpr uint32_t parts = 0xe6;
        asm volatile("xsave64 %0" : "+m"(r.registers) : "a"(parts), "d"(0) : "memory");
        model.serve(r);
        asm volatile("xrstor64 %0" : : "m"(r.registers), "a"(parts), "d"(0) : "memory");
    } else {
        model.serve(r);
    }
    __atomic_store_n(&r.serving, 0, __ATOMIC_RELEASE);
}

// The next level is asked for a line, or to take one back.
static void ask(Recorder &r, CacheLine line) {
    Waiting &waiting = r.waiting[1];
    waiting.lines[waiting.count++] = line;
}

static void serve_if_many(Recorder &r) {
    if (r.waiting[1].count + 2 > queue_length)
        serve(r);
}

void settle(Recorder &r, uint64_t index) {
    tc_way &way = r.ways[index];
    Traffic &traffic = r.traffic[r.state[index] >> 1];
    uint64_t loads = way.loads, stores = way.stores;
    r.state[index] |= stores != 0;
    // Cleared first: a reader in between misses them for a moment, and counts none twice.
    __atomic_store_n(&way.loads, 0, __ATOMIC_RELAXED);
    __atomic_store_n(&way.stores, 0, __ATOMIC_RELAXED);
    add(traffic.loads, loads);
    add(traffic.stores, stores);
}

// Empties a way; what was in it is written back if it is dirty.
static void evict(Recorder &r, uint64_t index) {
    uint64_t line = r.ways[index].line;
    // From here on, a handler's reference does not count for it.
    __atomic_store_n(&r.ways[index].line, 0, __ATOMIC_RELAXED);
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    settle(r, index);
    if (r.state[index] & 1)
        ask(r, CacheLine(line, true, r.state[index] >> 1));
    r.state[index] = 0;
}

struct Found {
    tc_way *line, *oldest; // line: null if it is not there
};

[[gnu::always_inline]] static inline Found look_at(tc_way *first, uint64_t ways, uint64_t line) {
    Found found{nullptr, first};
    uint64_t oldest_use = first->stamp;
    // Without branches: no way is more likely than another.
#pragma unroll 8
    for (uint64_t i = 0; i < ways; i++) {
        tc_way *way = first + i;
        found.line = way->line == line ? way : found.line;
        found.oldest = way->stamp < oldest_use ? way : found.oldest;
        oldest_use = way->stamp < oldest_use ? way->stamp : oldest_use;
    }
    return found;
}

static tc_way *bring_in(Recorder &r, uint64_t line, uint64_t limit) {
    // The program will want it next.
    thermocline::prefetch_line(reinterpret_cast<void *>(line << TC_LINE_SHIFT));
    uint32_t owner = owner_of(r, line << TC_LINE_SHIFT);
    uint64_t set = model.first_mask ? line & model.first_mask : line % model.first_sets;
    uint64_t ways = model.geometry[0].ways;
    tc_way *first = r.ways + set * ways;
    auto [found, oldest] = ways == 8 ? look_at(first, 8, line) : look_at(first, ways, line);
    if (found) {
        // It may have changed hands.
        uint64_t index = uint64_t(found - r.ways);
        if (r.state[index] >> 1 != owner) {
            settle(r, index);
            r.state[index] = owner << 1 | (r.state[index] & 1);
        }
    } else {
        if (oldest->stamp >= limit)
            return nullptr;
        found = oldest;
        uint64_t index = uint64_t(found - r.ways);
        serve_if_many(r);
        ask(r, CacheLine(line, false, owner));
        if (found->line)
            evict(r, index);
        r.state[index] = owner << 1;
        __atomic_signal_fence(__ATOMIC_SEQ_CST);
        found->line = line;
    }
    filter_entry(r, line) = found;
    return found;
}

// Runs a piece of the recorder's work, unless a signal's handler interrupted another one.
template <class Work> static bool guarded(Recorder &r, Work work) {
    uintptr_t here = reinterpret_cast<uintptr_t>(__builtin_frame_address(0));
    if (r.busy) {
        // The handler runs on top of it: that one has to finish first.
        if (here < r.busy)
            return false;
        // The handler never returned to it (longjmp): it is abandoned.
        if (r.held)
            __atomic_store_n(r.held, 0, __ATOMIC_RELEASE);
        r.held = nullptr;
        for (Waiting &waiting : r.waiting)
            waiting.count = 0;
        __atomic_store_n(&r.serving, 0, __ATOMIC_RELEASE);
    }
    r.busy = here;
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    work();
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    r.busy = 0;
    return true;
}

tc_way *miss(Recorder &r, uint64_t line, uint64_t limit) {
    tc_way *way = nullptr;
    guarded(r, [&] { way = bring_in(r, line, limit); });
    return way;
}

void flush(Recorder &r) {
    guarded(r, [&] { serve(r); });
}

void drain(Recorder &r) {
    each_way(r, [&](uint64_t index) {
        serve_if_many(r);
        if (r.ways[index].line)
            evict(r, index);
        r.ways[index].stamp = 0;
    });
    serve(r);
    for (unsigned level = 1; level < model.levels && !model.geometry[level].shared; level++) {
        Waiting &next = r.waiting[level + 1 < model.levels ? level + 1 : 0];
        r.own[level].drain([&](CacheLine line) {
            if (!line.dirty())
                return;
            if (level + 1 == model.levels) {
                add(r.traffic[line.owner()].write_bytes, uint64_t(1) << TC_LINE_SHIFT);
                return;
            }
            next.lines[next.count++] = line;
            if (next.count == queue_length)
                serve(r);
        });
        serve(r);
    }
}

} // namespace tc
