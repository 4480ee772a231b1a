// Strips (record.h): loops whose references are all known before they start.  The result
// is that of recording one reference after the other; the work is that of the lines.
//
// A group of references stays in the same one or two lines for some iterations: all its
// hits there are counted, and the line gets the stamp of the last of them, when the group
// *enters* the line.  Groups enter lines in the program's order.  So a line that the strip
// is using may have a stamp of the future, but never one before the last iteration, in
// which it was used; and a line whose stamp is older than that has its true stamp.  LRU's
// victim is the right one, then, if it is one of those.  If it isn't (more lines in use
// than a set has ways), what was counted ahead is taken back, and some iterations are
// recorded reference by reference.
//
// Compiled without vector registers, like recorder.cpp.
#include "record.h"
#include "recorder.h"
#include "strip_cursor.h"

namespace tc {
namespace {

constexpr uint64_t few_iterations = 2, first_stretch = 16;

class Strip {
  public:
    Strip(Recorder &r, const tc_strip &strip, const tc_walk *walks, uint64_t iterations,
          uint64_t stamp, Cursor *cursors)
        : r(r), count(strip.count), stamps(strip.stamps), iterations(iterations), base(stamp),
          cursors(cursors) {
        auto *group = reinterpret_cast<const tc_strip_group *>(&strip + 1);
        uint64_t stamp_in_iteration = 0;
        for (uint32_t i = 0; i < count; i++) {
            Cursor &c = cursors[i];
            c.group = group;
            c.start = walks[i].start;
            c.step = walks[i].step;
            c.stamp = stamp_in_iteration;
            stamp_in_iteration += TC_STAMPS_PER_REFERENCE * group->count;
            group = reinterpret_cast<const tc_strip_group *>(group->references + group->count);
        }
    }

    void record() {
        uint64_t stretch = first_stretch, done = 0;
        while (iterations > few_iterations) {
            Entry stopped = record_ahead();
            if (stopped.iteration == iterations)
                return;
            for (uint32_t g = stopped.group; g < count; g++)
                record_plainly(cursors[g], stopped.iteration);
            done = stopped.iteration + stretch;
            done = done < iterations ? done : iterations;
            record_plainly(stopped.iteration + 1, done);
            forget(done);
            stretch *= 2;
        }
        record_plainly(0, iterations);
    }

  private:
    // A group enters a line.
    struct Entry {
        uint64_t iteration;
        uint32_t group;
    };
    static constexpr uint32_t group_bits = 5;
    static_assert(TC_STRIP_GROUPS == 1 << group_bits);

    tc_way *way_of(uint64_t line, uint64_t limit) {
        tc_way *way = filter_entry(r, line);
        return way->line == line ? way : miss(r, line, limit);
    }

    // Counts all of a visit; null if its line can't be brought in ahead.
    [[gnu::always_inline]] tc_way *count_visit(uint64_t line, uint64_t loads, uint64_t stores,
                                               uint64_t stamp, uint64_t limit) {
        tc_way *way = way_of(line, limit);
        if (!way)
            return nullptr;
        add(way->loads, loads);
        add(way->stores, stores);
        way->stamp = stamp > way->stamp ? stamp : way->stamp;
        return way;
    }

    // The group's visits to the lines that it enters in iteration i; false if that can't be
    // done ahead.
    bool enter(Cursor &c, uint64_t i) {
        uint64_t limit = base + (i ? i - 1 : 0) * stamps, entry = base + i * stamps;
        uint64_t front = c.step < 0 ? c.low(i) : c.high(i);
        if (c.phase != (c.address(i) & (line_bytes - 1)) || i + c.pattern[0].end > iterations ||
            i + c.pattern[c.visits - 1].end > iterations)
            return enter_elsewise(c, i, front, limit);
        c.front = front;
        tc_way *first = nullptr;
        for (uint32_t k = 0; k < c.visits; k++) {
            const Pattern &p = c.pattern[k];
            tc_way *way = count_visit(front + uint64_t(int64_t(p.line)), p.loads, p.stores,
                                      entry + p.last, limit);
            if (!way) {
                if (first)
                    uncount(*first, c.pattern[0].loads, c.pattern[0].stores);
                return false;
            }
            first = way;
        }
        return true;
    }

    static void uncount(tc_way &way, uint64_t loads, uint64_t stores) {
        add(way.loads, -loads);
        add(way.stores, -stores);
    }

    // The same where there is no pattern yet, or not all iterations of it.
    [[gnu::noinline]] bool enter_elsewise(Cursor &c, uint64_t i, uint64_t front, uint64_t limit) {
        uint64_t lines[2] = {c.low(i), c.high(i)};
        if (i > 0 && c.step > 0 && lines[0] <= c.front)
            lines[0] = lines[1];
        if (i > 0 && c.step < 0 && lines[1] >= c.front)
            lines[1] = lines[0];
        c.front = front;
        Visit visits[2];
        visits[0] = c.visit_of(lines[0], i, iterations, stamps);
        c.visits = 1;
        if (lines[1] != lines[0]) {
            visits[1] = c.visit_of(lines[1], i, iterations, stamps);
            c.visits = 2;
        }
        if (c.visits == 2 && visits[1].first < visits[0].first) {
            visits[1] = visits[0];
            visits[0] = c.visit_of(lines[1], i, iterations, stamps);
            uint64_t line = lines[0];
            lines[0] = lines[1];
            lines[1] = line;
        }
        // What begins or ends with the strip is no pattern.
        bool whole = i > 0;
        for (uint32_t k = 0; k < c.visits; k++)
            whole = whole && visits[k].end < iterations;
        for (uint32_t k = 0; whole && k < c.visits; k++)
            c.pattern[k] = {int32_t(lines[k] - front), uint32_t(visits[k].end - i),
                            uint32_t(visits[k].loads), uint32_t(visits[k].stores),
                            visits[k].last - i * stamps};
        c.phase = whole ? uint32_t(c.address(i) & (line_bytes - 1)) : no_phase;

        tc_way *first = nullptr;
        for (uint32_t k = 0; k < c.visits; k++) {
            tc_way *way = count_visit(lines[k], visits[k].loads, visits[k].stores,
                                      base + visits[k].last, limit);
            if (!way) {
                if (first)
                    uncount(*first, visits[0].loads, visits[0].stores);
                return false;
            }
            first = way;
        }
        return true;
    }

    // Records all, or as much as it can; returns where it stopped.
    Entry record_ahead() {
        // The entries to come, one for each group, in order.
        constexpr uint32_t mask = TC_STRIP_GROUPS - 1;
        uint64_t entries[TC_STRIP_GROUPS];
        uint32_t head = 0, tail = 0;
        for (; tail < count; tail++) {
            cursors[tail].prepare();
            entries[tail] = tail;
        }
        while (head != tail) {
            uint64_t entry = entries[head++ & mask];
            uint64_t i = entry >> group_bits;
            auto g = uint32_t(entry & mask);
            Cursor &c = cursors[g];
            if (!enter(c, i)) {
                take_back(i, g);
                return {i, g};
            }
            if (c.step == 0)
                continue;
            uint64_t next = c.next_entry(i);
            if (next >= iterations)
                continue;
            next = next << group_bits | g;
            uint32_t at = tail++;
            // Most groups are equally fast: the last to enter is the last to enter again.
            for (; at != head && entries[(at - 1) & mask] > next; at--)
                entries[at & mask] = entries[(at - 1) & mask];
            entries[at & mask] = next;
        }
        return {iterations, 0};
    }

    // The lines in use are as if the references before group g of iteration i had been made
    // one by one.
    void take_back(uint64_t i, uint32_t g) {
        each_in_use(i, g, [&](const Cursor &c, uint64_t line, uint64_t made, tc_way &way) {
            Visit ahead = c.visit_of(line, made, iterations, stamps);
            uncount(way, ahead.loads, ahead.stores);
            way.stamp = 0;
        });
        each_in_use(i, g, [&](const Cursor &c, uint64_t line, uint64_t made, tc_way &way) {
            uint64_t stamp = base + c.visit_of(line, 0, made, stamps).last;
            way.stamp = stamp > way.stamp ? stamp : way.stamp;
        });
    }

    // Each line that a group used in this iteration or the last one.
    template <class Use> void each_in_use(uint64_t i, uint32_t g, Use use) {
        for (uint32_t h = 0; h < count; h++) {
            const Cursor &c = cursors[h];
            uint64_t made = i + (h < g), before = i ? i - 1 : 0;
            for (uint64_t at = before; at < made; at++)
                for (uint64_t line = c.low(at); line <= c.high(at); line++) {
                    if (at > before && line >= c.low(before) && line <= c.high(before))
                        continue;
                    if (tc_way *way = way_of(line, UINT64_MAX))
                        use(c, line, made, *way);
                }
        }
    }

    void record_plainly(const Cursor &c, uint64_t i) {
        const tc_strip_group &group = *c.group;
        uint64_t address = c.address(i), stamp = base + i * stamps + c.stamp;
        tc_way *way = nullptr;
        if (c.low(i) == c.high(i)) {
            way = way_of(line_of(address), UINT64_MAX);
            if (!way)
                return;
            add(way->loads, group.loads);
            add(way->stores, group.stores);
            way->stamp = stamp + TC_STAMPS_PER_REFERENCE * (uint64_t(group.count) - 1);
            return;
        }
        for (uint32_t k = 0; k < group.count; k++, stamp += TC_STAMPS_PER_REFERENCE) {
            tc_reference reference = group.references[k];
            uint64_t start = address + reference.offset;
            uint64_t last = line_of(start + (reference.bytes_and_store >> 1) - 1);
            for (uint64_t line = line_of(start); line <= last; line++) {
                if (!way || way->line != line)
                    way = way_of(line, UINT64_MAX);
                if (!way)
                    continue;
                bool store = reference.bytes_and_store & 1;
                add(way->loads, !store);
                add(way->stores, store);
                way->stamp = stamp + (line != line_of(start));
            }
        }
    }

    void record_plainly(uint64_t from, uint64_t to) {
        for (uint64_t i = from; i < to; i++)
            for (uint32_t g = 0; g < count; g++)
                record_plainly(cursors[g], i);
    }

    // The iterations done are behind us: counting starts anew.
    void forget(uint64_t done) {
        for (uint32_t g = 0; g < count; g++)
            cursors[g].start = cursors[g].address(done);
        base += done * stamps;
        iterations -= done;
    }

    Recorder &r;
    uint32_t count;
    uint64_t stamps, iterations;
    uint64_t base; // the stamp that stamps count from
    Cursor *cursors;
};

} // namespace
} // namespace tc

using namespace tc;

void tc_record_strip(tc_recorder *r, const tc_strip *strip, const tc_walk *walks,
                     uint64_t iterations, uint64_t stamp) {
    // As much of the stack as it needs: handlers' stacks may be small.
    auto *cursors = static_cast<Cursor *>(__builtin_alloca(strip->count * sizeof(Cursor)));
    Strip(*reinterpret_cast<Recorder *>(r), *strip, walks, iterations, stamp, cursors).record();
}
