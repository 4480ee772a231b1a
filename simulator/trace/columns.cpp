// The two sides of columns.h.  They must take each step alike: a change of one is a change
// of both and a new version of the format.
#include "simulator/trace/columns.h"
#include <cstring>

namespace thermocline {

namespace {

constexpr uint8_t long_gap = 255; // in the gaps' column: the gap is in the long gaps'

// Entries in each column, at the payload's beginning; the columns follow in this order, the
// control bytes between the dictionary and the rest.
struct Counts {
    uint32_t habits, jumps, deltas, absolutes, gaps, long_gaps, owners, bytes, clocks;
};

constexpr uint8_t kind_of(TraceEvent event, bool store) { return uint8_t(event) | store << 4; }

// The next habit in order of first appearance is what a loop's first turn does.
uint16_t first_guess(size_t habit, size_t habits) {
    return uint16_t(habit + 1 < habits ? habit + 1 : 0);
}

template <class Value> void append(std::vector<uint8_t> &to, const std::vector<Value> &column) {
    if (column.empty())
        return;
    const auto *bytes = reinterpret_cast<const uint8_t *>(column.data());
    to.insert(to.end(), bytes, bytes + column.size() * sizeof(Value));
}

} // namespace

void check_names(const Reference &r, const TableSizes &sizes) {
    const auto damaged = [](const char *what) {
        throw TraceError(std::string("the trace refers to ") + what +
                         " that it does not describe: it is damaged");
    };
    if (r.event == TraceEvent::reference && r.instruction != no_static &&
        r.instruction >= sizes.statics)
        damaged("an instruction");
    if ((r.event == TraceEvent::reference || r.event == TraceEvent::allocate) &&
        r.owner >= sizes.owners)
        damaged("an owner");
    if ((r.event == TraceEvent::enter || r.event == TraceEvent::leave) &&
        r.instruction >= sizes.functions)
        damaged("a function");
}

uint16_t Encoder::habit_of(const Reference &r) {
    const uint8_t kind = kind_of(r.event, r.store);
    const auto [found, added] = known_.try_emplace({r.instruction, kind}, habits_.size());
    if (added) {
        Habit habit;
        habit.instruction = r.instruction;
        habit.event = r.event;
        habit.store = r.store;
        habit.next = uint16_t(habits_.size() + 1); // as first_guess, but for the last
        habits_.push_back(habit);
        instructions_.push_back(r.instruction);
        kinds_.push_back(kind);
    }
    return found->second;
}

void Encoder::encode(std::span<const Reference> records, std::vector<uint8_t> &payload) {
    known_.clear();
    habits_.clear();
    control_.clear(), kinds_.clear(), gaps_.clear(), jumps_.clear(), instructions_.clear();
    deltas_.clear(), long_gaps_.clear(), owners_.clear(), bytes_.clear();
    absolutes_.clear(), clocks_.clear();
    // The dictionary first, so that a first guess is the same on both sides.
    std::vector<uint16_t> order;
    order.reserve(records.size());
    uint16_t guess = 0;
    for (const Reference &r : records) {
        if (r.event == TraceEvent::clock) {
            order.push_back(0);
            continue;
        }
        // Mostly what came after it last; a look into the table costs ten times that.
        uint16_t habit = 0;
        if (!habits_.empty() && !order.empty())
            habit = habits_[guess].next;
        if (habit >= habits_.size() || habits_[habit].instruction != r.instruction ||
            habits_[habit].event != r.event || habits_[habit].store != r.store)
            habit = habit_of(r);
        if (!habits_.empty())
            habits_[guess].next = habit;
        guess = habit;
        order.push_back(habit);
    }
    for (size_t i = 0; i < habits_.size(); i++)
        habits_[i].next = habits_[i].other = first_guess(i, habits_.size());
    uint16_t current = uint16_t(habits_.empty() ? 0 : habits_.size() - 1);
    uint64_t before = 0, movement = 0;
    for (size_t i = 0; i < records.size(); i++) {
        const Reference &r = records[i];
        if (r.event == TraceEvent::clock) {
            control_.push_back(Control::clock);
            clocks_.push_back(r.address);
            continue;
        }
        uint8_t control = 0;
        Habit &from = habits_[current];
        current = order[i];
        if (from.next != current) {
            if (from.other == current) {
                control |= Control::other;
            } else {
                control |= Control::jump;
                jumps_.push_back(current);
            }
            from.other = from.next;
            from.next = current;
        }
        Habit &habit = habits_[current];
        if (habit.last + habit.stride == r.address) {
            habit.last = r.address;
        } else {
            const uint64_t delta = r.address - habit.last;
            if (before + habit.distance == r.address) {
                control |= Control::by_distance;
            } else if (delta == movement) {
                control |= Control::by_movement;
            } else if (int64_t(delta) == int32_t(delta)) {
                control |= Control::by_delta;
                // Small ones of either sign have zeros above.
                deltas_.push_back(uint32_t(int32_t(delta) << 1 ^ int32_t(delta) >> 31));
            } else {
                control |= Control::absolute;
                absolutes_.push_back(r.address);
            }
            if ((control & Control::address_mask) != Control::by_distance)
                movement = delta;
            habit.moved(r.address, before);
        }
        before = r.address;
        if (habit.gap != r.gap) {
            control |= Control::gap;
            gaps_.push_back(uint8_t(std::min<uint32_t>(r.gap, long_gap)));
            if (r.gap >= long_gap)
                long_gaps_.push_back(r.gap);
            habit.gap = r.gap;
        }
        if (habit.owner != r.owner) {
            control |= Control::owner;
            owners_.push_back(habit.owner = r.owner);
        }
        if (habit.bytes != r.bytes) {
            control |= Control::bytes;
            bytes_.push_back(habit.bytes = r.bytes);
        }
        control_.push_back(control);
    }
    const Counts counts{
        uint32_t(habits_.size()),    uint32_t(jumps_.size()), uint32_t(deltas_.size()),
        uint32_t(absolutes_.size()), uint32_t(gaps_.size()),  uint32_t(long_gaps_.size()),
        uint32_t(owners_.size()),    uint32_t(bytes_.size()), uint32_t(clocks_.size())};
    payload.resize(sizeof counts);
    std::memcpy(payload.data(), &counts, sizeof counts);
    ends_.clear();
    const auto end = [&](size_t column_bytes) {
        constexpr size_t large = 2048; // less does not pay for codes of its own
        if (column_bytes >= large)
            ends_.push_back(payload.size());
    };
    append(payload, instructions_), append(payload, kinds_);
    append(payload, control_), end(control_.size());
    append(payload, jumps_), end(jumps_.size() * 2);
    // Differences as planes of bytes: the high ones are alike, which zstd sees only so.
    for (unsigned shift = 0; shift < 32; shift += 8) {
        for (uint32_t delta : deltas_)
            payload.push_back(uint8_t(delta >> shift));
        end(deltas_.size());
    }
    append(payload, absolutes_), end(absolutes_.size() * 8);
    append(payload, gaps_), append(payload, long_gaps_), end(gaps_.size());
    append(payload, owners_), end(owners_.size() * 4);
    append(payload, bytes_), append(payload, clocks_);
}

template <class Value> Value Decoder::Column<Value>::take() {
    if (at == end) [[unlikely]]
        throw TraceError("a chunk's columns are damaged");
    Value value;
    std::memcpy(&value, at, sizeof value);
    at += sizeof value;
    return value;
}

[[gnu::noinline]] static void check_owner(const Habit &habit, const TableSizes &sizes) {
    Reference r;
    r.event = habit.event, r.instruction = habit.instruction, r.owner = habit.owner;
    check_names(r, sizes);
}

uint32_t Decoder::Planes::take() {
    if (at == end) [[unlikely]]
        throw TraceError("a chunk's columns are damaged");
    const uint8_t *low = at++;
    return uint32_t(low[0]) | uint32_t(low[size]) << 8 | uint32_t(low[2 * size]) << 16 |
           uint32_t(low[3 * size]) << 24;
}

void Decoder::begin(Bytes payload, uint32_t records, const TableSizes &sizes) {
    const auto damaged = [] { throw TraceError("a chunk's columns are damaged"); };
    Counts counts;
    if (payload.size() < sizeof counts)
        damaged();
    std::memcpy(&counts, payload.data(), sizeof counts);
    uint64_t at = sizeof counts;
    const auto column = [&](uint64_t entries, size_t bytes) {
        const uint64_t begin = at;
        at += entries * bytes;
        return begin;
    };
    const uint64_t instructions = column(counts.habits, 4), kinds = column(counts.habits, 1);
    const uint64_t control = column(records, 1), jumps = column(counts.jumps, 2);
    const uint64_t deltas = column(counts.deltas, 4), absolutes = column(counts.absolutes, 8);
    const uint64_t gaps = column(counts.gaps, 1), long_gaps = column(counts.long_gaps, 4);
    const uint64_t owners = column(counts.owners, 4), bytes = column(counts.bytes, 4);
    const uint64_t clocks = column(counts.clocks, 8);
    if (at != payload.size() || records > max_records || counts.habits > records ||
        (counts.habits == 0 && counts.clocks != records))
        damaged();
    const uint8_t *base = payload.data();
    habits_.assign(counts.habits, Habit());
    for (uint32_t i = 0; i < counts.habits; i++) {
        Habit &habit = habits_[i];
        std::memcpy(&habit.instruction, base + instructions + size_t(i) * 4, 4);
        const uint8_t kind = base[kinds + i], event = kind & 15;
        if (event >= trace_events - 1 || kind >> 4 > 1)
            damaged();
        habit.event = TraceEvent(event);
        habit.store = kind >> 4;
        habit.next = habit.other = first_guess(i, counts.habits);
        check_owner(habit, sizes);
    }
    const auto range = [&](auto &column, uint64_t from, uint64_t to) {
        column.at = base + from;
        column.end = base + to;
    };
    control_ = base + control;
    range(jumps_, jumps, deltas), range(deltas_, deltas, deltas + counts.deltas);
    deltas_.size = counts.deltas;
    range(absolutes_, absolutes, gaps), range(gaps_, gaps, long_gaps);
    range(long_gaps_, long_gaps, owners), range(owners_, owners, bytes);
    range(bytes_, bytes, clocks), range(clocks_, clocks, at);
    sizes_ = sizes;
    left_ = records;
    current_ = uint16_t(habits_.empty() ? 0 : habits_.size() - 1);
    before_ = movement_ = 0;
    at_clock_ = false;
}

size_t Decoder::next(Reference *to, size_t room) {
    const size_t count = decode(to, std::min<size_t>(room, left_));
    at_clock_ = count == 0 && left_ > 0 && room > 0;
    if (at_clock_) {
        clock_ = clocks_.take();
        control_++;
        left_--;
    } else if (left_ == 0 && (jumps_.at != jumps_.end || deltas_.at != deltas_.end ||
                              absolutes_.at != absolutes_.end || gaps_.at != gaps_.end ||
                              long_gaps_.at != long_gaps_.end || owners_.at != owners_.end ||
                              bytes_.at != bytes_.end || clocks_.at != clocks_.end)) {
        throw TraceError("a chunk's columns are damaged");
    }
    return count;
}

// The state is in locals, since stores through `to` could else change it.
size_t Decoder::decode(Reference *to, size_t room) {
    const uint8_t *control_at = control_;
    Habit *const habits = habits_.data();
    uint16_t current = current_;
    uint64_t before = before_, movement = movement_;
    size_t count = 0;
    for (; count < room; count++) {
        const uint8_t control = *control_at;
        if ((control & Control::successor_mask) == Control::clock) [[unlikely]]
            break;
        if (habits_.empty()) [[unlikely]]
            throw TraceError("a chunk's columns are damaged");
        control_at++;
        Habit &from = habits[current];
        if (control & Control::successor_mask) {
            uint16_t next = from.other;
            if (control & Control::jump) {
                next = jumps_.take();
                if (next >= habits_.size()) [[unlikely]]
                    throw TraceError("a chunk's columns are damaged");
            }
            from.other = from.next;
            from.next = next;
        }
        current = from.next;
        Habit &habit = habits[current];
        if ((control & Control::address_mask) == 0) {
            habit.last += habit.stride;
        } else {
            uint64_t address;
            switch (control & Control::address_mask) {
            case Control::by_distance:
                address = before + habit.distance;
                break;
            case Control::by_movement:
                address = habit.last + movement;
                break;
            case Control::by_delta: {
                const uint32_t zigzag = deltas_.take();
                movement = uint64_t(int64_t(int32_t(zigzag >> 1) ^ -int32_t(zigzag & 1)));
                address = habit.last + movement;
                break;
            }
            default:
                address = absolutes_.take();
                movement = address - habit.last;
            }
            habit.moved(address, before);
        }
        before = habit.last;
        if (control & (Control::gap | Control::owner | Control::bytes)) {
            if (control & Control::gap) {
                habit.gap = gaps_.take();
                if (habit.gap == long_gap)
                    habit.gap = long_gaps_.take();
            }
            if (control & Control::owner) {
                habit.owner = owners_.take();
                if (habit.owner >= sizes_.owners) [[unlikely]]
                    check_owner(habit, sizes_);
            }
            if (control & Control::bytes)
                habit.bytes = bytes_.take();
        }
        Reference &r = to[count];
        r.address = habit.last;
        r.instruction = habit.instruction;
        r.owner = habit.owner;
        r.gap = habit.gap;
        r.bytes = habit.bytes;
        r.event = habit.event;
        r.store = habit.store;
    }
    left_ -= uint32_t(control_at - control_);
    control_ = control_at;
    current_ = current;
    before_ = before;
    movement_ = movement;
    return count;
}

} // namespace thermocline
