// Spans: runs of units cut into equal slots, all of one site or each with its tag.
//
// What is known about a slot is in tables beside the heap, never in the program's memory: two
// bytes that say "free, and who is next" or "live, born then", one or two for how much of the
// slot was asked for, and four for the tag.
#pragma once
#include "site_heap_clock.h"
#include "site_heap_range.h"
#include <atomic>

// Size classes: multiples of 16 up to 128, then eight per doubling, so that rounding up wastes
// less than 1/8 of a block above 128 bytes.
constexpr unsigned class_count = 80;
constexpr size_t largest_slot = 64 << 10;
constexpr size_t largest_small_slot = 8 << 10; // and the largest that shares tagged spans
constexpr unsigned first_medium_class = 56;
constexpr size_t medium_units = 8;
constexpr unsigned most_slots = 512; // bounds a span's table, and so what a site's first span costs

constexpr unsigned class_of(size_t size) {
    if (size <= 128)
        return size ? unsigned(size - 1) / 16 : 0;
    unsigned log2 = 63 - __builtin_clzll(size - 1);
    return 8 + (log2 - 7) * 8 + ((size - 1) >> (log2 - 3) & 7);
}
constexpr uint32_t slot_bytes(unsigned size_class) {
    if (size_class < 8)
        return (size_class + 1) * 16;
    unsigned log2 = 7 + (size_class - 8) / 8, eighth = (size_class - 8) % 8;
    return (1u << log2) + ((eighth + 1) << (log2 - 3));
}
static_assert(slot_bytes(class_of(largest_slot)) == largest_slot);
static_assert(class_of(largest_slot) == class_count - 1);
static_assert(class_of(largest_small_slot) == first_medium_class - 1);

// The smallest class for a size whose slots are all aligned.
constexpr unsigned class_for(size_t size, size_t align) {
    unsigned size_class = class_of(size);
    if (align > 16)
        for (size_class = class_of(size < align ? align : size);
             slot_bytes(size_class) & (align - 1);)
            ++size_class;
    return size_class;
}

// Where a block lies while its site has no spans of its own: in slots of whole lines.
constexpr unsigned tagged_class_for(size_t size, size_t align) {
    constexpr size_t line_bytes = 64;
    size_t lines = size ? (size + line_bytes - 1) & ~(line_bytes - 1) : line_bytes;
    return class_for(lines, align > line_bytes ? align : line_bytes);
}

constexpr size_t units_of_class(unsigned size_class) {
    return size_class < first_medium_class ? 1 : medium_units;
}
constexpr unsigned slots_of_class(unsigned size_class) {
    size_t fit = units_of_class(size_class) * unit_bytes / slot_bytes(size_class);
    return fit < most_slots ? unsigned(fit) : most_slots;
}

// Division by a slot's size without a division: exact for offsets below 2^19.
struct SlotDivisors {
    uint64_t multiplier[class_count];
};
constexpr SlotDivisors make_slot_divisors() {
    SlotDivisors divisors{};
    for (unsigned c = 0; c < class_count; ++c)
        divisors.multiplier[c] = ((uint64_t(1) << 40) + slot_bytes(c) - 1) / slot_bytes(c);
    return divisors;
}
inline constexpr SlotDivisors slot_divisors = make_slot_divisors();
constexpr unsigned slot_index(size_t offset, unsigned size_class) {
    return unsigned(offset * slot_divisors.multiplier[size_class] >> 40);
}

// A span's tables.  The memory keeps its layout when reused, so that a reader that races with
// the span's end (use after free in the program) reads old values and nothing else.
struct SpanTables {
    SpanTables *next_unused;
    uint32_t slots;
    bool tagged;
    bool wide_slack; // slots above 2 KiB: two bytes
    uint8_t size_class;

    uint32_t *tags() { return reinterpret_cast<uint32_t *>(this + 1); }
    uint16_t *links() { return reinterpret_cast<uint16_t *>(tags() + (tagged ? slots : 0)); }
    uint8_t *slack8() { return reinterpret_cast<uint8_t *>(links() + slots); }
    uint16_t *slack16() { return links() + slots; }
};

constexpr size_t largest_byte_slack_slot = 2 << 10;

enum class SpanState : uint8_t { none, current, partial, full, large };

struct Bin;
struct ThreadHeap;

struct alignas(64) Span {
    // What the owner reads at every block: one line, which other threads only read.
    std::atomic<ThreadHeap *> owner; // null: large, no span's first unit, or its thread has ended
    std::atomic<SpanTables *> tables;
    Bin *bin;
    uintptr_t start;
    uint16_t *links;            // of `tables`
    std::atomic<uint32_t> site; // 0: tagged
    uint32_t slot_bytes;
    uint16_t slots;
    uint16_t free_head;           // slot + 1
    uint16_t used;                // handed out and not yet back in free_head's list
    std::atomic<uint16_t> carved; // slots from here on were never handed out: they are zero
    SpanState state;
    uint8_t size_class;
    // Frees by other threads: a stack of slots, and what the freeing thread must know.
    alignas(64) std::atomic<uint64_t> remote;
    Span *next, *prev;   // in one of the bin's lists, or among the abandoned
    Span *next_returned; // in the owner's stack of spans that others emptied
    // Large spans only.
    std::atomic<uint16_t> large_link;
    std::atomic<size_t> large_units;
    size_t large_bytes; // as asked for
};

// Span::remote.
constexpr uint64_t remote_one = 1ull << 16;       // the count, above the head (slot + 1)
constexpr uint64_t remote_full = 1ull << 32;      // every slot was handed out: 512 frees empty it
constexpr uint64_t remote_abandoned = 1ull << 33; // the count that empties it is above
constexpr unsigned remote_frozen_shift = 48;
constexpr uint16_t remote_head(uint64_t word) { return uint16_t(word); }
constexpr uint16_t remote_count(uint64_t word) { return uint16_t(word >> 16); }
constexpr uint16_t remote_frozen(uint64_t word) { return uint16_t(word >> remote_frozen_shift); }

inline uint16_t load_link(uint16_t *link) { return __atomic_load_n(link, __ATOMIC_RELAXED); }
inline void store_link(uint16_t *link, uint16_t value) {
    __atomic_store_n(link, value, __ATOMIC_RELAXED);
}

extern Span *all_spans; // one per unit; that of a run's first unit counts
bool spans_reserve(size_t unit_count);

inline size_t span_unit(const Span *span) { return size_t(span - all_spans); }
inline Span *span_of(size_t unit, uint32_t owner) {
    return &all_spans[owner & site_heap_medium ? unit & ~(medium_units - 1) : unit];
}

// A new span of a site, or a tagged one (site 0); null when memory is out.
Span *span_make(uint32_t site, unsigned size_class);
Span *span_make_large(uint32_t site, size_t units, size_t align_units);
// Back to the pool of units.  Nobody may hold a block of it.
void span_release(Span *);

// Called before a span's pages go back to the kernel, when not null: the moment of a peak.
extern void (*before_release)(uint32_t site, size_t first_unit, size_t units);
// Called before memory goes from one site to another or back to the pool, when not null.
extern void (*owner_changed)(const void *, uint64_t bytes);
// Pages have gone back to the kernel, before anybody can take them again; may be null.
extern void (*pages_returned)(const void *, uint64_t bytes);

extern tc::Lock tables_lock; // for fork
