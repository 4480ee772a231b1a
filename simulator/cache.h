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

// The lines of each set are kept in the order of their last use, most recent first.
class Cache {
  public:
    static size_t words(const CacheGeometry &g) { return size_t(g.sets() * g.ways); }

    // `memory`: words(g) zeroed words, which stay the caller's.
    void init(const CacheGeometry &g, uint64_t *memory) {
        sets_ = g.sets();
        ways_ = g.ways;
        mask_ = (sets_ & (sets_ - 1)) == 0 ? sets_ - 1 : 0;
        memory_ = memory;
    }

    uint64_t sets() const { return sets_; }
    uint64_t set_of(uint64_t line) const { return mask_ || sets_ == 1 ? line & mask_ : line % sets_; }

    // If the line is here, makes it the most recent of its set and returns true.
    bool touch(uint64_t line) {
        uint64_t *set = set_at(line);
        unsigned way = find(set, line);
        if (way == ways_)
            return false;
        to_front(set, way, set[way]);
        return true;
    }

    // A line written back from the level above: if it is here, it becomes dirty, the
    // most recent, and `owner`'s.
    bool touch_dirty(uint64_t line, uint32_t owner) {
        uint64_t *set = set_at(line);
        unsigned way = find(set, line);
        if (way == ways_)
            return false;
        to_front(set, way, CacheLine(line, true, owner).word());
        return true;
    }

    // Puts in a line that is not here, and returns the least recent one, which left.
    CacheLine insert(uint64_t line, bool dirty, uint32_t owner) {
        uint64_t *set = set_at(line);
        CacheLine victim(set[ways_ - 1]);
        to_front(set, ways_ - 1, CacheLine(line, dirty, owner).word());
        return victim;
    }

    // Calls leave(CacheLine) for each line that is here and empties the cache.
    template <class Leave> void drain(Leave leave) {
        for (size_t i = 0; i < sets_ * ways_; i++) {
            CacheLine line(memory_[i]);
            memory_[i] = 0;
            if (line.present())
                leave(line);
        }
    }

  private:
    uint64_t *set_at(uint64_t line) const { return memory_ + set_of(line) * ways_; }

    unsigned find(const uint64_t *set, uint64_t line) const {
        unsigned way = 0;
        while (way < ways_ && !CacheLine(set[way]).is(line))
            way++;
        return way;
    }

    static void to_front(uint64_t *set, unsigned way, uint64_t word) {
        // volatile: the recorder may not call memmove, which uses vector registers.
        volatile uint64_t *to = set;
        for (; way > 0; way--)
            to[way] = set[way - 1];
        to[0] = word;
    }

    uint64_t sets_ = 0, mask_ = 0;
    uint32_t ways_ = 0;
    uint64_t *memory_ = nullptr;
};

} // namespace thermocline
