// The recorder's model as a thread's references reach it.  Compiled without vector
// registers, which twins keep across calls; what misses the first level (first_level.h)
// waits for the levels behind (levels.h), which are served in batches that may use them.
#include "recorder.h"
#include "first_level.h"

namespace tc {

Model model;

void serve(Recorder &r) {
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

bool take_over(Recorder &r, uintptr_t here) {
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
    return true;
}

void settle(Recorder &r, tc_way &way) { way.owned = settled(r, way).word(); }

Found look_for(tc_way *set, uint64_t blocks, uint64_t line) {
    tc_way *first = set;
    for (uint64_t i = 0; i < blocks; i++, set++) {
        if (tc_way *way = holder(set, line))
            return {way, true};
        tc_way *way = oldest(set);
        first = way->stamp < first->stamp ? way : first;
    }
    return {first, false};
}

tc_way *miss(Recorder &r, uint64_t line) {
    tc_way *way = nullptr;
    guarded(r, [&] { way = bring_in(r, line); });
    return way;
}

void flush(Recorder &r) {
    guarded(r, [&] { serve(r); });
}

void drain(Recorder &r) {
    each_way(r, [&](tc_way &way) {
        serve_if_many(r);
        evict(r, way);
        way.owned = 0;
        way.stamp = 0;
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
