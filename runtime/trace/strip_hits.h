// A strip whose lines are all in the first level of the cache model: they are looked for
// first, and counted when all are found.
#pragma once
#include "recorder.h"
#include "strip_cursor.h"

namespace tc {

// Null if the line can't be brought in without evicting what was used at `limit` or later.
inline tc_way *way_of(Recorder &r, uint64_t line, uint64_t limit) {
    tc_way *way = filter_entry(r, line);
    return way->line == line ? way : miss(r, line, limit);
}

[[gnu::always_inline]] inline void count_visit(tc_way &way, uint64_t loads, uint64_t stores,
                                               uint64_t stamp) {
    add(way.loads, loads);
    add(way.stores, stores);
    way.stamp = stamp > way.stamp ? stamp : way.stamp;
}

inline void uncount_visit(tc_way &way, uint64_t loads, uint64_t stores) {
    add(way.loads, -loads);
    add(way.stores, -stores);
}

// A line that is in the first level, and what will be counted there.
struct Hit {
    tc_way *way;
    uint64_t loads, stores, stamp;
};

class Hits {
  public:
    // `memory`: for as many as will be found.
    Hits(Recorder &r, uint64_t iterations, uint64_t stamps, uint64_t base, Hit *memory)
        : r(r), iterations(iterations), stamps(stamps), base(base), hits(memory) {}

    // All of a group's lines; false if not all are in the first level.
    bool find(const Cursor &c) {
        const tc_strip_group &group = *c.group;
        if (c.shape == Shape::pieces)
            return find_in_pieces(c);
        if (c.shape == Shape::narrow)
            return find_reference(c, 0, group.loads, group.stores, group.count - 1u);
        for (uint32_t k = 0; k < group.count; k++) {
            bool store = group.references[k].bytes_and_store & 1;
            if (!find_reference(c, group.references[k].offset, !store, store, k))
                return false;
        }
        return true;
    }

    void count() {
        for (uint32_t i = 0; i < hit_count; i++)
            count_visit(*hits[i].way, hits[i].loads, hits[i].stores, hits[i].stamp);
    }

  private:
    [[gnu::always_inline]] bool find_hit(uint64_t line, uint64_t loads, uint64_t stores,
                                         uint64_t stamp) {
        constexpr uint64_t without_eviction = 0;
        tc_way *way = way_of(r, line, without_eviction);
        if (!way)
            return false;
        hits[hit_count++] = {way, loads, stores, base + stamp};
        return true;
    }

    // `loads` and `stores` in each iteration, the last of them by one of the references.
    bool find_reference(const Cursor &c, uint64_t offset, uint64_t loads, uint64_t stores,
                        uint64_t reference) {
        uint64_t address = c.start + offset, i = 0;
        uint64_t stamp = c.stamp + TC_STAMPS_PER_REFERENCE * reference - stamps;
        auto visit = [&](uint64_t here) {
            i += here;
            uint64_t line = line_of(address);
            address += here * uint64_t(c.step);
            return find_hit(line, here * loads, here * stores, i * stamps + stamp);
        };
        auto to_the_end = [&] {
            uint64_t phase = address % line_bytes, left = iterations - i;
            if (c.step == 0)
                return left;
            uint64_t here = c.steps_in(c.step > 0 ? line_bytes - 1 - phase : phase) + 1;
            return here < left ? here : left;
        };
        if (!visit(to_the_end()))
            return false;
        if (c.shift <= TC_LINE_SHIFT) {
            // Whole lines are all alike.
            uint64_t whole = line_bytes >> c.shift, line = line_of(address);
            uint64_t line_loads = whole * loads, line_stores = whole * stores;
            uint64_t line_stamps = whole * stamps, last = (i + whole) * stamps + stamp;
            for (; iterations - i >= whole; i += whole, last += line_stamps) {
                if (!find_hit(line, line_loads, line_stores, last))
                    return false;
                line += c.step > 0 ? 1 : -uint64_t(1);
                address += whole * uint64_t(c.step);
            }
        }
        while (i < iterations)
            if (!visit(to_the_end()))
                return false;
        return true;
    }

    bool find_in_pieces(const Cursor &c) {
        const tc_strip_group &group = *c.group;
        uint32_t shift = group.pieces_shift;
        uint32_t piece_shift = uint32_t(__builtin_ctz(uint32_t(group.bytes) >> shift));
        uint64_t loads = uint32_t(group.loads) >> shift, stores = uint32_t(group.stores) >> shift;
        uint64_t address = c.start, pieces = iterations << shift;
        for (uint64_t j = 0; j < pieces;) {
            uint64_t here = (line_bytes - address % line_bytes) >> piece_shift;
            here = here < pieces - j ? here : pieces - j;
            j += here;
            uint64_t i = (j - 1) >> shift, piece = (j - 1) & ((uint64_t(1) << shift) - 1);
            uint64_t last = group.piece_last + piece * group.piece_step;
            if (!find_hit(line_of(address), here * loads, here * stores,
                          i * stamps + c.stamp + TC_STAMPS_PER_REFERENCE * last))
                return false;
            address += here << piece_shift;
        }
        return true;
    }

    Recorder &r;
    uint64_t iterations, stamps, base;
    uint32_t hit_count = 0;
    Hit *hits;
};

} // namespace tc
