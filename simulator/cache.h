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
    [[gnu::always_inline]] constexpr explicit CacheLine(uint64_t word) : word_(word) {}
    [[gnu::always_inline]] constexpr CacheLine(uint64_t line, bool dirty, uint32_t owner)
        : word_(uint64_t(owner) << (line_bits + 2) | line << 2 | present_bit |
                (dirty ? dirty_bit : 0)) {}

    [[gnu::always_inline]] constexpr bool present() const { return word_ & present_bit; }
    [[gnu::always_inline]] constexpr bool dirty() const { return word_ & dirty_bit; }
    [[gnu::always_inline]] constexpr uint64_t line() const {
        return word_ >> 2 & ((uint64_t(1) << line_bits) - 1);
    }
    [[gnu::always_inline]] constexpr uint32_t owner() const {
        return uint32_t(word_ >> (line_bits + 2));
    }
    [[gnu::always_inline]] constexpr uint64_t word() const { return word_; }
    [[gnu::always_inline]] constexpr CacheLine dirty_if(bool too) const {
        return CacheLine(word_ | (too ? dirty_bit : 0));
    }
    [[gnu::always_inline]] constexpr bool is(uint64_t line) const {
        return ((word_ ^ key(line)) & key_mask) == 0;
    }

    // A word is a line's if it equals the line's key in these bits.
    static constexpr uint64_t key_mask = (((uint64_t(1) << line_bits) - 1) << 2) | 2;
    [[gnu::always_inline]] static constexpr uint64_t key(uint64_t line) {
        return line << 2 | present_bit;
    }

  private:
    static constexpr uint64_t dirty_bit = 1, present_bit = 2;
    uint64_t word_ = 0;
};

// Without vector registers the compiler drops its own prefetch, which belongs to SSE.
[[gnu::always_inline]] inline void prefetch_line(const void *p) {
#ifdef __x86_64__
    asm volatile("prefetcht0 %0" : : "m"(*static_cast<const char *>(p)));
#else
    __builtin_prefetch(p);
#endif
}

// Which set a line belongs to: its number modulo the number of sets, as two multiplications
// (Lemire et al., "Faster remainder by direct computation", 2019).
class SetIndex {
  public:
    constexpr SetIndex() = default;
    constexpr explicit SetIndex(uint64_t sets)
        : sets_(sets), reciprocal_(~uint64_t(0) / sets + 1) {}
    [[gnu::always_inline]] constexpr uint64_t sets() const { return sets_; }
    [[gnu::always_inline]] constexpr uint64_t of(uint64_t line) const {
        return uint64_t((unsigned __int128)(line * reciprocal_) * sets_ >> 64);
    }

    // Exact for all lines if the product of both numbers has 64 bits, or for powers of two.
    static constexpr bool exact(uint64_t sets) {
        return (sets & (sets - 1)) == 0 || sets <= uint64_t(1) << (64 - CacheLine::line_bits);
    }

  private:
    uint64_t sets_ = 1, reciprocal_ = 0;
};

// A set is its lines in order of use, most recent first: so LRU needs no bookkeeping of
// its own, and with vector registers a set of 16 is a few instructions.  Everything is
// inlined, since files that are compiled for different processors include this.
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

    [[gnu::always_inline]] uint64_t sets() const { return sets_; }
    [[gnu::always_inline]] uint32_t ways() const { return ways_; }
    [[gnu::always_inline]] uint64_t set_of(uint64_t line) const {
        return mask_ || sets_ == 1 ? line & mask_ : line % sets_;
    }
    [[gnu::always_inline]] uint64_t *set(uint64_t line) const {
        return memory_ + set_of(line) * stride_;
    }

    // The same cache, which has so many ways, for a compiler that knows how many.
    [[gnu::always_inline]] Cache of_ways(uint32_t ways) const {
        Cache same = *this;
        same.ways_ = ways;
        same.stride_ = stride(ways);
        return same;
    }

    // The set will be looked at soon.
    [[gnu::always_inline]] void prefetch(uint64_t line) const {
        const uint64_t *words = set(line);
        for (size_t word = 0; word < stride_; word += block)
            prefetch_line(words + word);
    }

    // A line's position in its set, or ways() if it is not here.
    [[gnu::always_inline]] unsigned find(const uint64_t *set, uint64_t line) const {
#ifdef __AVX2__
        for (unsigned first = 0; first < stride_; first += block) {
            Block differing = *reinterpret_cast<const Block *>(set + first) ^ CacheLine::key(line);
            unsigned equal = lanes((differing & CacheLine::key_mask) == 0);
            if (equal)
                return first + unsigned(__builtin_ctz(equal));
        }
        return ways_;
#else
        unsigned at = 0;
        while (at < ways_ && !CacheLine(set[at]).is(line))
            at++;
        return at;
#endif
    }

    // What is at a position leaves, those before it move on by one, and `word` comes first.
    [[gnu::always_inline]] void put_first(uint64_t *set, unsigned at, uint64_t word) const {
#ifdef __AVX2__
        const Block position = {0, 1, 2, 3, 4, 5, 6, 7};
        for (unsigned first = 0; first <= at; first += block) {
            auto &here = *reinterpret_cast<Block *>(set + first);
            Block old = here;
            Block moved = __builtin_shufflevector(old, old, 0, 0, 1, 2, 3, 4, 5, 6);
            moved[0] = word;
            here = position <= uint64_t(at - first) ? moved : old;
            word = old[block - 1];
        }
#else
        // volatile: the recorder may not call memmove, which uses vector registers.
        volatile uint64_t *to = set;
        for (; at > 0; at--)
            to[at] = set[at - 1];
        to[0] = word;
#endif
    }

    // Calls leave(CacheLine) for each line that is here and empties the cache.
    template <class Leave> [[gnu::always_inline]] void drain(Leave leave) {
        for (size_t i = 0; i < sets_ * stride_; i++) {
            CacheLine line(memory_[i]);
            memory_[i] = 0;
            if (line.present())
                leave(line);
        }
    }

  private:
    static constexpr unsigned block = 8; // words in a line of the host
    [[gnu::always_inline]] static constexpr size_t stride(unsigned ways) {
        return (ways + block - 1) / block * block;
    }

#ifdef __AVX2__
    typedef uint64_t Block __attribute__((vector_size(block * sizeof(uint64_t))));
    typedef int64_t Lanes __attribute__((vector_size(block * sizeof(uint64_t))));
    typedef bool Bits __attribute__((ext_vector_type(block)));
    [[gnu::always_inline]] static unsigned lanes(Lanes all_or_nothing) {
        return __builtin_bit_cast(uint8_t, __builtin_convertvector(all_or_nothing, Bits));
    }
#endif

    uint64_t sets_ = 0, mask_ = 0;
    uint32_t ways_ = 0;
    size_t stride_ = 0;
    uint64_t *memory_ = nullptr;
};

} // namespace thermocline
