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
#include "stream.h"
#include "strip_hits.h"

namespace tc {
namespace {

constexpr uint64_t few_iterations = 2, short_strip = 8, first_stretch = 16;
constexpr uint32_t most_hits = 128;

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
        if (iterations > few_iterations) {
            for (uint32_t g = 0; g < count; g++)
                cursors[g].prepare();
            bool turns = take_turns();
            if ((iterations <= short_strip || (!turns && !pays(2))) && all_narrow())
                return record_narrow();
            if (record_hits())
                return;
            if (!turns && !pays(4))
                return record_plainly(0, iterations);
        }
        for (uint64_t stretch = first_stretch; iterations > few_iterations; stretch *= 2) {
            Entry stopped = record_ahead();
            if (stopped.iteration == iterations)
                return;
            for (uint32_t g = stopped.group; g < count; g++)
                record_plainly(cursors[g], stopped.iteration);
            uint64_t done = stopped.iteration + stretch;
            done = done < iterations ? done : iterations;
            record_plainly(stopped.iteration + 1, done);
            forget(done);
        }
        record_plainly(0, iterations);
    }

  private:
    // Of a short strip, all at once if all lines are in the first level: then the order of
    // entries does not matter.
    bool record_hits() {
        uint64_t lines = 0;
        for (uint32_t g = 0; g < count; g++) {
            const Cursor &c = cursors[g];
            uint64_t walks = c.shape == Shape::apart ? c.group->count : 1;
            lines += walks * (2 + lines_in(c));
            if (c.shape == Shape::any || lines > most_hits)
                return false;
        }
        Hits hits(r, iterations, stamps, base,
                  static_cast<Hit *>(__builtin_alloca(lines * sizeof(Hit))));
        for (uint32_t g = 0; g < count; g++)
            if (!hits.find(cursors[g]))
                return false;
        hits.count();
        return true;
    }

    // About how many lines it enters.
    uint64_t lines_in(const Cursor &c) const {
        return c.pace < line_bytes ? iterations * c.pace / line_bytes : iterations;
    }

    // False if most iterations enter lines, so that looking for those would not pay.
    bool pays(uint64_t iterations_a_line) const {
        uint64_t lines = 0;
        for (uint32_t g = 0; g < count; g++)
            lines += lines_in(cursors[g]);
        return iterations_a_line * lines <= iterations * count;
    }

    bool all_narrow() const {
        for (uint32_t g = 0; g < count; g++)
            if (cursors[g].shape != Shape::narrow)
                return false;
        return true;
    }

    bool take_turns() const {
        for (uint32_t g = 0; g < count; g++)
            if (cursors[g].shift > TC_LINE_SHIFT || cursors[g].step != cursors[0].step)
                return false;
        return true;
    }

    // A group enters lines.
    struct Entry {
        uint64_t iteration;
        uint32_t group;
    };
    // The entries to come, one for each group, in order.
    struct Entries {
        static constexpr uint32_t group_bits = 5, mask = TC_STRIP_GROUPS - 1;
        static_assert(TC_STRIP_GROUPS == 1 << group_bits);
        uint32_t head, tail;
        uint64_t ring[TC_STRIP_GROUPS];

        Entry at(uint32_t k) const {
            uint64_t entry = ring[(head + k) & mask];
            return {entry >> group_bits, uint32_t(entry & mask)};
        }
        void move(uint32_t k, uint64_t later) { ring[(head + k) & mask] += later << group_bits; }
        void add(Entry entry) {
            uint64_t word = entry.iteration << group_bits | entry.group;
            uint32_t at = tail++;
            // Most groups are equally fast: the last to enter is the last to enter again.
            for (; at != head && ring[(at - 1) & mask] > word; at--)
                ring[at & mask] = ring[(at - 1) & mask];
            ring[at & mask] = word;
        }
    };

    // Records all, or as much as it can; returns where it stopped.
    Entry record_ahead() {
        Entries entries;
        entries.head = entries.tail = 0;
        uint32_t patience = 1;
        for (uint32_t g = 0; g < count; g++) {
            cursors[g].phase = no_phase;
            entries.add({0, g});
        }
        while (entries.head != entries.tail) {
            Entry entry = entries.at(0);
            entries.head++;
            if (entry.iteration >= iterations)
                continue;
            Cursor &c = cursors[entry.group];
            bool as_ever = c.enter(entry.iteration, iterations, stamps);
            if (!count_visits(c, entry.iteration)) {
                take_back(entry.iteration, entry.group);
                return entry;
            }
            if (c.step == 0)
                continue;
            entry.iteration = c.next_entry(entry.iteration);
            entries.add(entry);
            if (as_ever && --patience == 0) {
                patience = count;
                if (!record_rounds(entries, entry)) {
                    take_back(entry.iteration, entry.group);
                    return entry;
                }
            }
        }
        return {iterations, 0};
    }

    // If the groups are equally fast, they take turns: each enters one line and that after
    // the same number of iterations.  False at an entry that can't be made ahead.
    [[gnu::noinline]] bool record_rounds(Entries &entries, Entry &stopped) {
        struct Turn {
            uint64_t line, loads, stores, stamp, limit;
        } turns[TC_STRIP_GROUPS];
        const Cursor &leader = cursors[entries.at(0).group];
        if (leader.shift > TC_LINE_SHIFT)
            return true;
        uint64_t period = line_bytes >> leader.shift, rounds = iterations;
        auto stride = uint64_t(leader.step < 0 ? -1 : 1);
        uint32_t n = 0;
        for (; entries.head + n != entries.tail; n++) {
            Entry entry = entries.at(n);
            const Cursor &c = cursors[entry.group];
            uint64_t i = entry.iteration, end = i + c.visits[0].end;
            if (c.step != leader.step || c.phase == no_phase || c.visit_count != 1 ||
                end > iterations)
                return true;
            uint64_t whole = (iterations - end) / period + 1;
            rounds = whole < rounds ? whole : rounds;
            turns[n] = {c.front_in(i) + c.visits[0].line, c.visits[0].loads, c.visits[0].stores,
                        base + i * stamps + c.visits[0].last, base + (i - 1) * stamps};
        }
        uint64_t stamps_in_period = period * stamps;
        for (uint64_t round = 0; round < rounds; round++)
            for (uint32_t k = 0; k < n; k++) {
                Turn &turn = turns[k];
                tc_way *way = way_of(r, turn.line, turn.limit);
                if (!way) {
                    stopped = entries.at(k);
                    stopped.iteration += round * period;
                    return false;
                }
                count_visit(*way, turn.loads, turn.stores, turn.stamp);
                turn.line += stride;
                turn.stamp += stamps_in_period;
                turn.limit += stamps_in_period;
            }
        for (uint32_t k = 0; k < n; k++) {
            Entry entry = entries.at(k);
            Cursor &c = cursors[entry.group];
            c.front = c.front_in(entry.iteration + (rounds - 1) * period);
            entries.move(k, rounds * period);
        }
        return true;
    }

    // False, and nothing is counted, if not all of the lines can be brought in yet.
    bool count_visits(const Cursor &c, uint64_t i) {
        uint64_t limit = base + (i ? i - 1 : 0) * stamps;
        tc_way *first = nullptr;
        for (uint32_t k = 0; k < c.visit_count; k++) {
            const Visit &visit = c.visits[k];
            tc_way *way = way_of(r, c.front + visit.line, limit);
            if (!way) {
                if (first)
                    uncount_visit(*first, c.visits[0].loads, c.visits[0].stores);
                return false;
            }
            count_visit(*way, visit.loads, visit.stores, base + i * stamps + visit.last);
            first = way;
        }
        return true;
    }

    // The lines in use are as if the references before group g of iteration i had been made
    // one by one.
    void take_back(uint64_t i, uint32_t g) {
        each_in_use(i, g, [&](const Cursor &c, uint64_t line, uint64_t made, tc_way &way) {
            Visit ahead = c.visit_of(line, made, iterations, stamps);
            uncount_visit(way, ahead.loads, ahead.stores);
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
                    if (tc_way *way = way_of(r, line, UINT64_MAX))
                        use(c, line, made, *way);
                }
        }
    }

    void record_plainly(const Cursor &c, uint64_t i) {
        const tc_strip_group &group = *c.group;
        uint64_t address = c.address(i), stamp = base + i * stamps + c.stamp;
        tc_way *way = nullptr;
        if (c.low(i) == c.high(i)) {
            way = way_of(r, line_of(address), UINT64_MAX);
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
                    way = way_of(r, line, UINT64_MAX);
                if (!way)
                    continue;
                bool store = reference.bytes_and_store & 1;
                add(way->loads, !store);
                add(way->stores, store);
                way->stamp = stamp + (line != line_of(start));
            }
        }
    }

    // The whole strip, of narrow groups only.
    void record_narrow() {
        for (uint64_t i = 0; i < iterations; i++, base += stamps)
            for (uint32_t g = 0; g < count; g++) {
                Cursor &c = cursors[g];
                tc_way *way = way_of(r, line_of(c.start), UINT64_MAX);
                c.start += uint64_t(c.step);
                if (!way)
                    continue;
                add(way->loads, c.group->loads);
                add(way->stores, c.group->stores);
                way->stamp = base + c.stamp + TC_STAMPS_PER_REFERENCE * (c.group->count - 1u);
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
    if (stream_on) [[unlikely]]
        return stream_strip(r, strip, walks, iterations, stamp);
    // As much of the stack as it needs: handlers' stacks may be small.
    auto *cursors = static_cast<Cursor *>(__builtin_alloca(strip->count * sizeof(Cursor)));
    Strip(*reinterpret_cast<Recorder *>(r), *strip, walks, iterations, stamp, cursors).record();
}
