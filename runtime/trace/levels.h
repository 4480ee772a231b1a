// The levels behind the first, as batches of lines reach them.  Included by the files
// that compile it for one set of vector registers each; so all is local to them.
//
// Levels neither include nor exclude each other: a line is brought into each level that
// missed it, and a dirty line that leaves a level is written to the next one, which
// takes it in if it isn't there.  A write-back counts as a use.  No level's contents
// depend on what the next one finds, so each serves its whole batch before the next.
#pragma once
#include "recorder.h"
#include "tier_traffic.h"

namespace tc {
namespace {

constexpr uint64_t line_bytes = uint64_t(1) << TC_LINE_SHIFT;

void lock_sets(Recorder &r, const Cache &cache, unsigned level, uint64_t line) {
    unsigned char *lock = model.locks[level] + cache.set_of(line) % lock_groups * lock_stride;
    r.held = lock;
    while (__atomic_exchange_n(lock, 1, __ATOMIC_ACQUIRE))
        while (__atomic_load_n(lock, __ATOMIC_RELAXED))
            __builtin_ia32_pause();
}

void unlock_sets(Recorder &r) {
    __atomic_store_n(r.held, 0, __ATOMIC_RELEASE);
    r.held = nullptr;
}

// A tier's pages may have come since the line's way to here began.
[[gnu::always_inline]] inline uint32_t owner_now(const Recorder &r, CacheLine line) {
    if (!model.by_tier)
        return line.owner();
    uintptr_t address = line.line() << TC_LINE_SHIFT;
    if (uint32_t known = known_tier(address)) [[likely]]
        return first_site_owner + known - 1;
    return owner_of(r, address);
}

// The line is sought and, if need be, put in, and what left is returned.
[[gnu::always_inline]] inline CacheLine look_up(const Cache &cache, CacheLine asked, bool &found) {
    uint64_t *set = cache.set(asked.line());
    unsigned at = cache.find(set, asked.line());
    found = at < cache.ways();
    if (found) {
        cache.put_first(set, at, asked.dirty() ? asked.word() : set[at]);
        return CacheLine();
    }
    CacheLine victim(set[cache.ways() - 1]);
    cache.put_first(set, cache.ways() - 1, asked.word());
    return victim;
}

// `cache` is a copy, which no store can change.  `plain`: no locks are needed, and owners
// are as they came.
template <bool plain, bool last>
[[gnu::always_inline]] inline void serve_level(Recorder &r, unsigned level, const Cache cache) {
    constexpr unsigned ahead = 16;
    Waiting &waiting = r.waiting[level];
    bool locks = !plain && model.geometry[level].shared && r.locks;
    CacheLine *next = last ? nullptr : r.waiting[level + 1].lines + r.waiting[level + 1].count;
    const CacheLine *end = waiting.lines + waiting.count;
    for (unsigned i = 0; i < ahead; i++)
        cache.prefetch(waiting.lines[i].line());
    for (const CacheLine *at = waiting.lines; at != end; at++) {
        cache.prefetch(at[ahead].line());
        CacheLine asked = *at;
        if (!plain && last)
            asked = CacheLine(asked.line(), asked.dirty(), owner_now(r, asked));
        if (locks)
            lock_sets(r, cache, level, asked.line());
        bool found;
        CacheLine victim = look_up(cache, asked, found);
        if (locks)
            unlock_sets(r);
        if (found)
            continue;
        // The line comes before the one that makes room for it.
        if constexpr (last) {
            if (!asked.dirty())
                add(r.traffic[asked.owner()].read_bytes, line_bytes);
            if (victim.dirty())
                add(r.traffic[victim.owner()].write_bytes, line_bytes);
        } else {
            *next = asked;
            next += !asked.dirty();
            *next = victim;
            next += victim.dirty();
        }
    }
    waiting.count = 0;
    if constexpr (!last)
        r.waiting[level + 1].count = uint32_t(next - r.waiting[level + 1].lines);
}

[[gnu::always_inline]] inline void serve_level(Recorder &r, unsigned level, const Cache cache) {
    bool last = level + 1 == model.levels;
    bool plain = !(model.geometry[level].shared && r.locks) && !(last && model.by_tier);
    if (plain && last)
        serve_level<true, true>(r, level, cache);
    else if (plain)
        serve_level<true, false>(r, level, cache);
    else if (last)
        serve_level<false, true>(r, level, cache);
    else
        serve_level<false, false>(r, level, cache);
}

void serve_level(Recorder &r, unsigned level) {
    const Cache &cache = model.geometry[level].shared ? model.shared[level] : r.own[level];
    switch (cache.ways()) {
    case 8:
        return serve_level(r, level, cache.of_ways(8));
    case 16:
        return serve_level(r, level, cache.of_ways(16));
    default:
        return serve_level(r, level, cache);
    }
}

void serve_all(Recorder &r) {
    // There is no level behind the first: memory itself is asked.
    if (model.levels == 1) {
        for (uint32_t i = 0; i < r.waiting[1].count; i++) {
            CacheLine asked = r.waiting[1].lines[i];
            Traffic &traffic = r.traffic[owner_now(r, asked)];
            add(asked.dirty() ? traffic.write_bytes : traffic.read_bytes, line_bytes);
        }
        r.waiting[1].count = 0;
    }
    for (unsigned level = 1; level < model.levels; level++)
        serve_level(r, level);
}

} // namespace
} // namespace tc
