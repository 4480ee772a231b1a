// One cache: set-associative, true LRU, write-back.  Levels of these make a
// hierarchy; docs/trace-profile.md says how they work together.  Header only and
// plain memory, so that the recorder can use it without a library and without
// vector registers.
#pragma once
#include <cstddef>
#include <cstdint>

namespace thermocline {

struct CacheGeometry {
    uint64_t bytes = 0;
    uint32_t ways = 0;
    uint32_t line_bytes = 64;
    bool shared = false; // by all threads; private to each otherwise

    uint64_t sets() const { return bytes / line_bytes / ways; }
    bool valid() const {
        return ways > 0 && line_bytes > 0 && bytes > 0 &&
               bytes % (uint64_t(ways) * line_bytes) == 0;
    }
};

// What a cache knows of one line, in a word: line number (41 bits: an address of
// 47 bits without its offset in a line of 64), owner, dirty, present.
class CacheLine {
  public:
    static constexpr unsigned line_bits = 41, owner_bits = 21;
    static constexpr uint32_t max_owner = (1u << owner_bits) - 1;

    constexpr CacheLine() = default;
    constexpr explicit CacheLine(uint64_t word) : word_(word) {}
    constexpr CacheLine(uint64_t line, bool dirty, uint32_t owner)
        : word_(uint64_t(owner) << (line_bits + 2) | line << 2 | present_bit |
                (dirty ? dirty_bit : 0)) {}

    constexpr bool present() const { return word_ & present_bit; }
    constexpr bool dirty() const { return word_ & dirty_bit; }
    constexpr uint64_t line() const { return word_ >> 2 & ((uint64_t(1) << line_bits) - 1); }
    constexpr uint32_t owner() const { return uint32_t(word_ >> (line_bits + 2)); }
    constexpr uint64_t word() const { return word_; }
    constexpr bool is(uint64_t line) const { return ((word_ ^ key(line)) & key_mask) == 0; }

  private:
    static constexpr uint64_t dirty_bit = 1, present_bit = 2;
    static constexpr uint64_t key_mask = (((uint64_t(1) << line_bits) - 1) << 2) | present_bit;
    static constexpr uint64_t key(uint64_t line) { return line << 2 | present_bit; }
    uint64_t word_ = 0;
};

// Without vector registers the compiler drops its own prefetch, which belongs to SSE.
inline void prefetch_line(const void *p) {
#ifdef __x86_64__
    asm volatile("prefetcht0 %0" : : "m"(*static_cast<const char *>(p)));
#else
    __builtin_prefetch(p);
#endif
}

// A set of up to 16 ways is three things: the order of its ways by last use, as the
// digits of one word, most recent lowest; a byte of each line's hash, to find a line by
// two or three operations on words; and the lines.  Larger sets keep their lines
// themselves in order, most recent first.
class Cache {
  public:
    static size_t words(const CacheGeometry &g) { return size_t(g.sets()) * stride(g.ways); }

    // `memory`: words(g) zeroed words on a 64-byte boundary, which stay the caller's.
    void init(const CacheGeometry &g, uint64_t *memory) {
        sets_ = g.sets();
        ways_ = g.ways;
        stride_ = stride(g.ways);
        mask_ = (sets_ & (sets_ - 1)) == 0 ? sets_ - 1 : 0;
        memory_ = memory;
    }

    uint64_t sets() const { return sets_; }
    uint64_t set_of(uint64_t line) const {
        return mask_ || sets_ == 1 ? line & mask_ : line % sets_;
    }

    // The set will be looked at soon.
    void prefetch(uint64_t line) const {
        const uint64_t *set = memory_ + set_of(line) * stride_;
        for (size_t word = 0; word < stride_; word += 8)
            prefetch_line(set + word);
    }

    // If the line is here, makes it the most recent of its set and returns true.
    bool touch(uint64_t line) {
        uint64_t *set = memory_ + set_of(line) * stride_;
        unsigned way = find(set, line);
        if (way == ways_)
            return false;
        use(set, way);
        return true;
    }

    // A line written back from the level above: if it is here, it becomes dirty, the
    // most recent, and `owner`'s (unless that is 0, which is nobody).
    bool touch_dirty(uint64_t line, uint32_t owner) {
        uint64_t *set = memory_ + set_of(line) * stride_;
        unsigned way = find(set, line);
        if (way == ways_)
            return false;
        uint64_t &word = lines(set)[way];
        word = CacheLine(line, true, owner ? owner : CacheLine(word).owner()).word();
        use(set, way);
        return true;
    }

    // Puts in a line that is not here, and returns the least recent one, which left.
    CacheLine insert(uint64_t line, bool dirty, uint32_t owner) {
        uint64_t *set = memory_ + set_of(line) * stride_;
        unsigned way = least_recent(set);
        CacheLine victim(lines(set)[way]);
        lines(set)[way] = CacheLine(line, dirty, owner).word();
        if (ordered_by_word()) {
            uint64_t &hashes = set[1 + way / 8];
            unsigned shift = way % 8 * 8;
            hashes = (hashes & ~(uint64_t(0xff) << shift)) | hash(line) << shift;
        }
        use(set, way);
        return victim;
    }

    // Calls leave(CacheLine) for each line that is here and empties the cache.
    template <class Leave> void drain(Leave leave) {
        for (uint64_t i = 0; i < sets_; i++) {
            uint64_t *set = memory_ + i * stride_;
            for (unsigned way = 0; way < ways_; way++) {
                CacheLine line(lines(set)[way]);
                lines(set)[way] = 0;
                if (line.present())
                    leave(line);
            }
        }
    }

  private:
    static constexpr uint64_t ones = 0x0101010101010101, digits = 0x1111111111111111;

    static bool by_word(unsigned ways) { return ways <= 16; }
    static size_t header(unsigned ways) { return by_word(ways) ? 1 + (ways + 7) / 8 : 0; }
    // Sets start on the host's own lines.
    static size_t stride(unsigned ways) { return (header(ways) + ways + 7) / 8 * 8; }
    bool ordered_by_word() const { return by_word(ways_); }
    uint64_t *lines(uint64_t *set) const { return set + header(ways_); }
    static uint64_t hash(uint64_t line) { return uint32_t(line) * 0x9E3779B1u >> 24; }

    unsigned find(uint64_t *set, uint64_t line) const {
        const uint64_t *here = lines(set);
        if (!ordered_by_word()) {
            unsigned way = 0;
            while (way < ways_ && !CacheLine(here[way]).is(line))
                way++;
            return way;
        }
        uint64_t wanted = hash(line) * ones;
        for (unsigned first = 0; first < ways_; first += 8) {
            uint64_t differing = set[1 + first / 8] ^ wanted;
            // The top bit of each byte that is zero (and of some that follow one).
            uint64_t equal = (differing - ones) & ~differing & ones << 7;
            for (; equal; equal &= equal - 1) {
                unsigned way = first + unsigned(__builtin_ctzll(equal)) / 8;
                if (way < ways_ && CacheLine(here[way]).is(line))
                    return way;
            }
        }
        return ways_;
    }

    // The digits of a word, before its first use 0.
    static uint64_t order_of(const uint64_t *set) { return set[0] ? set[0] : 0xfedcba9876543210; }

    unsigned least_recent(uint64_t *set) const {
        if (!ordered_by_word())
            return ways_ - 1;
        return order_of(set) >> 4 * (ways_ - 1) & 15;
    }

    void use(uint64_t *set, unsigned way) const {
        if (!ordered_by_word()) {
            // volatile: the recorder may not call memmove, which uses vector registers.
            volatile uint64_t *to = set;
            uint64_t word = set[way];
            for (; way > 0; way--)
                to[way] = set[way - 1];
            to[0] = word;
            return;
        }
        uint64_t order = order_of(set);
        uint64_t differing = order ^ way * digits;
        uint64_t equal = (differing - digits) & ~differing & digits << 3;
        unsigned shift = unsigned(__builtin_ctzll(equal)) & ~3u;
        uint64_t newer = order & ((uint64_t(1) << shift) - 1);
        uint64_t older = order & ~((uint64_t(16) << shift) - 1);
        set[0] = older | newer << 4 | way;
    }

    uint64_t sets_ = 0, mask_ = 0;
    uint32_t ways_ = 0;
    size_t stride_ = 0;
    uint64_t *memory_ = nullptr;
};

} // namespace thermocline
