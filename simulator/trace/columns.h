// A chunk of one thread's records as columns, which zstd then finds short.
//
// Each record is predicted from what its static instruction did last: which instruction
// comes next, and its address, gap, owner and size.  A control byte says what of that was
// wrong, and columns hold only the right values for those.  In a loop the control bytes are
// all zero.  Every chunk starts from nothing, so that reading can begin at any of them.
#pragma once
#include "simulator/trace/format.h"
#include "simulator/trace/reference.h"
#include <unordered_map>
#include <vector>

namespace thermocline {

// What a record may name; beyond that the chunk is damaged.
struct TableSizes {
    size_t statics = 0, owners = 0, functions = 0;
};

// Throws TraceError if an event's fields name what the tables do not have.
void check_names(const Reference &, const TableSizes &);

// One static instruction (or kind of event) within a chunk: what it did last.
struct Habit {
    uint64_t last = 0;     // address
    uint64_t stride = 0;   // last repeated difference of two addresses
    uint64_t step = 0;     // last difference, which becomes the stride when it repeats
    uint64_t distance = 0; // from the address of the record before
    uint32_t instruction = 0, owner = 0, gap = 0, bytes = 0;
    uint16_t next = 0, other = 0; // what came after it last, and before that
    TraceEvent event = TraceEvent::reference;
    bool store = false;

    // The rules that both sides follow when the stride did not hold.
    void moved(uint64_t address, uint64_t before) {
        const uint64_t difference = address - last;
        if (difference == step)
            stride = difference;
        step = difference;
        distance = address - before;
        last = address;
    }
};

// The control byte: 0 when all is as predicted.
struct Control {
    // The successor: the habit's next, the other one, one from the column; or no record at
    // all but a time.
    static constexpr uint8_t successor_mask = 3, other = 1, jump = 2, clock = 3;
    // The address: the stride holds; as far from the record before as last time; moved as the
    // last one that was moved by a delta; from the columns.
    static constexpr uint8_t address_mask = 7 << 2, by_distance = 1 << 2, by_movement = 2 << 2,
                             by_delta = 3 << 2, absolute = 4 << 2;
    static constexpr uint8_t gap = 1 << 5, owner = 1 << 6, bytes = 1 << 7;
};

class Encoder {
  public:
    // At most max_records; the payload before compression.
    void encode(std::span<const Reference>, std::vector<uint8_t> &payload);
    // Where large columns of the last payload end.
    std::span<const size_t> ends() const { return ends_; }

  private:
    uint16_t habit_of(const Reference &);

    struct Key {
        uint32_t instruction;
        uint32_t kind;
        bool operator==(const Key &) const = default;
    };
    struct Hash {
        size_t operator()(const Key &k) const {
            return (uint64_t(k.instruction) << 5 | k.kind) * 0x9e3779b97f4a7c15u >> 20;
        }
    };
    std::vector<Habit> habits_;
    std::unordered_map<Key, uint16_t, Hash> known_;
    std::vector<uint8_t> control_, kinds_, gaps_;
    std::vector<uint16_t> jumps_;
    std::vector<uint32_t> instructions_, deltas_, long_gaps_, owners_, bytes_;
    std::vector<uint64_t> absolutes_, clocks_;
    std::vector<size_t> ends_;
};

// Gives a chunk's records back, some at a time.
class Decoder {
  public:
    // `payload` must outlive the decoding.
    void begin(Bytes payload, uint32_t records, const TableSizes &);

    // Up to `room` records, fewer before a clock and at the end: 0 only if a clock comes
    // (then clock() is what it says, and is passed) or all is read (left() is 0).
    size_t next(Reference *to, size_t room);
    uint32_t left() const { return left_; }
    bool at_clock() const { return at_clock_; }
    uint64_t clock() const { return clock_; }

  private:
    template <class Value> struct Column {
        const uint8_t *at = nullptr, *end = nullptr;
        Value take();
    };
    struct Planes {
        const uint8_t *at = nullptr, *end = nullptr;
        size_t size = 0;
        uint32_t take();
    };
    size_t decode(Reference *to, size_t room);

    std::vector<Habit> habits_;
    TableSizes sizes_;
    uint32_t left_ = 0;
    uint16_t current_ = 0; // the last record's habit
    uint64_t before_ = 0;  // and its address
    uint64_t movement_ = 0;
    bool at_clock_ = false;
    uint64_t clock_ = 0;
    const uint8_t *control_ = nullptr;
    Column<uint16_t> jumps_;
    Planes deltas_;
    Column<uint32_t> long_gaps_, owners_, bytes_;
    Column<uint64_t> absolutes_, clocks_;
    Column<uint8_t> gaps_;
};

} // namespace thermocline
