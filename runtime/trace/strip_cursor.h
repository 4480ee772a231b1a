// One group of a strip on its way over the lines, in closed form: which lines it enters
// when, and what it does to a line in any span of iterations.
#pragma once
#include "record.h"

namespace tc {

constexpr uint64_t line_bytes = uint64_t(1) << TC_LINE_SHIFT;
constexpr uint32_t no_phase = line_bytes;

inline uint64_t line_of(uint64_t address) { return address >> TC_LINE_SHIFT; }

struct Iterations {
    uint64_t first, end;
};

// What a group does to a line from the iteration on in which it enters it.
struct Visit {
    uint64_t line;
    uint64_t loads, stores;
    uint64_t first, last; // stamps
    uint64_t end;         // the iteration behind the last one
};

// What of a group is never in two lines at once: all of it, each of an unrolled loop's
// pieces, each of its references, or nothing that would be known.
enum class Shape : uint8_t { narrow, pieces, apart, any };

struct Cursor {
    const tc_strip_group *group;
    uint64_t start; // its address in iteration 0
    int64_t step;
    uint64_t pace;  // the step's size
    uint64_t stamp; // of its first reference in iteration 0
    uint64_t front; // the line entered last
    // Its visits to the lines that it enters together: one, or two in the order of their
    // first references.  Lines count from the front, stamps and iterations from the entry,
    // since it mostly does the same whenever its address is so far behind a line's start.
    Visit visits[2];
    uint32_t visit_count;
    uint32_t phase;
    uint8_t shift; // log2 of the pace, if it is a power of two; else 64
    Shape shape;

    void prepare() {
        pace = uint64_t(step < 0 ? -step : step);
        shift = pace && (pace & (pace - 1)) == 0 ? uint8_t(__builtin_ctzll(pace)) : 64;
        phase = no_phase;
        shape = shape_of();
    }

    Shape shape_of() const {
        // The address keeps its distance from a multiple of this.
        uint64_t align = (pace | line_bytes) & -(pace | line_bytes);
        auto stays = [&](uint64_t from, uint64_t bytes) {
            return (from & (align - 1)) + bytes <= align;
        };
        if (stays(start, group->bytes))
            return Shape::narrow;
        uint64_t piece = group->bytes >> group->pieces_shift;
        if (step == group->bytes && (piece & (piece - 1)) == 0 && start % piece == 0)
            return Shape::pieces;
        for (uint32_t k = 0; k < group->count; k++) {
            tc_reference reference = group->references[k];
            if (!stays(start + reference.offset, reference.bytes_and_store >> 1))
                return Shape::any;
        }
        return Shape::apart;
    }

    uint64_t address(uint64_t iteration) const { return start + iteration * uint64_t(step); }
    // The lines that it is in.
    uint64_t low(uint64_t iteration) const { return line_of(address(iteration)); }
    uint64_t high(uint64_t iteration) const {
        return line_of(address(iteration) + group->bytes - 1);
    }
    uint64_t front_in(uint64_t iteration) const {
        return step < 0 ? low(iteration) : high(iteration);
    }
    uint64_t steps_in(uint64_t distance) const {
        return shift < 64 ? distance >> shift : distance / pace;
    }

    // Its visits are now those to the lines that it enters in iteration i, up to iteration
    // `to`; true if they were the same last time.
    bool enter(uint64_t i, uint64_t to, uint64_t stamps) {
        uint64_t low_line = low(i), high_line = high(i), entered = front;
        front = front_in(i);
        auto at = uint32_t(address(i) % line_bytes);
        if (phase == at && i + visits[0].end <= to && i + visits[visit_count - 1].end <= to)
            return true;
        if (i > 0 && step > 0 && low_line <= entered)
            low_line = high_line;
        if (i > 0 && step < 0 && high_line >= entered)
            high_line = low_line;
        visit_count = low_line == high_line ? 1 : 2;
        visits[0] = visit_of(low_line, i, to, stamps);
        if (visit_count == 2) {
            visits[1] = visit_of(high_line, i, to, stamps);
            if (visits[1].first < visits[0].first) {
                visits[0] = visits[1];
                visits[1] = visit_of(low_line, i, to, stamps);
            }
        }
        // What begins or ends with the strip happens only once.
        bool whole = i > 0;
        for (uint32_t k = 0; k < visit_count; k++) {
            whole = whole && visits[k].end < to;
            visits[k].line -= front;
            visits[k].last -= i * stamps;
            visits[k].end -= i;
        }
        phase = whole ? at : no_phase;
        return false;
    }

    // The iteration in which it enters a line next.  The step is not 0.
    uint64_t next_entry(uint64_t i) const {
        uint64_t edge = front << TC_LINE_SHIFT, here = address(i);
        uint64_t way_to_go =
            step > 0 ? edge + line_bytes - (here + group->bytes - 1) : here - (edge - 1);
        return i + steps_in(way_to_go + pace - 1);
    }

    // The iterations of [from, to) in which its address is in [low, high].
    Iterations when_in(uint64_t low, uint64_t high, uint64_t from, uint64_t to) const {
        uint64_t here = address(from);
        auto nearest = int64_t(low - here), farthest = int64_t(high - here);
        if (step == 0)
            return nearest <= 0 && farthest >= 0 ? Iterations{from, to} : Iterations{to, to};
        if (step < 0) {
            int64_t swapped = -nearest;
            nearest = -farthest;
            farthest = swapped;
        }
        if (farthest < 0)
            return {to, to};
        uint64_t first = nearest > 0 ? from + steps_in(uint64_t(nearest) + pace - 1) : from;
        uint64_t end = from + steps_in(uint64_t(farthest)) + 1;
        end = end < to ? end : to;
        return first < end ? Iterations{first, end} : Iterations{to, to};
    }

    // What it does to a line in the iterations of [from, to), of which each takes `stamps`.
    Visit visit_of(uint64_t line, uint64_t from, uint64_t to, uint64_t stamps) const {
        uint64_t edge = line << TC_LINE_SHIFT;
        if (shape == Shape::narrow) {
            auto [first, end] = when_in(edge, edge + line_bytes - 1, from, to);
            uint64_t n = end - first;
            uint64_t last_stamp = stamp + TC_STAMPS_PER_REFERENCE * (uint64_t(group->count) - 1);
            return {line,
                    n * group->loads,
                    n * group->stores,
                    first * stamps + stamp,
                    (end - 1) * stamps + last_stamp,
                    end};
        }
        Visit visit{line, 0, 0, ~uint64_t(0), 0, from};
        uint64_t in_iteration = stamp;
        for (uint32_t i = 0; i < group->count; i++) {
            tc_reference reference = group->references[i];
            uint64_t bytes = reference.bytes_and_store >> 1, at_edge = edge - reference.offset;
            auto [first, end] = when_in(at_edge - (bytes - 1), at_edge + line_bytes - 1, from, to);
            // The line is its second one, if it starts in the one before.
            auto stamp_in = [&](uint64_t iteration) {
                return iteration * stamps + in_iteration +
                       (int64_t(address(iteration) - at_edge) < 0);
            };
            if (first < end) {
                (reference.bytes_and_store & 1 ? visit.stores : visit.loads) += end - first;
                uint64_t first_stamp = stamp_in(first), last_stamp = stamp_in(end - 1);
                visit.first = first_stamp < visit.first ? first_stamp : visit.first;
                visit.last = last_stamp > visit.last ? last_stamp : visit.last;
                visit.end = end > visit.end ? end : visit.end;
            }
            in_iteration += TC_STAMPS_PER_REFERENCE;
        }
        return visit;
    }
};

} // namespace tc
