// A thread's recorder and the cache model behind it.
#pragma once
#include "record.h"
#include "simulator/cache.h"
#include "traffic.h"

namespace tc {

using thermocline::Cache;
using thermocline::CacheGeometry;
using thermocline::CacheLine;

constexpr unsigned max_cache_levels = 4;
constexpr uint32_t not_filtered = ~0u;

// What traffic is charged to: the kinds of non-heap memory, then the sites (or tiers).
constexpr uint32_t first_site_owner = nonheap_kinds;
constexpr uint32_t max_owner = CacheLine::max_owner;

// The first level, by way.  While a line is in the filter, the filter's stamp is its last
// use; otherwise it is `stamp`.
struct FirstLevel {
    uint64_t *line; // 0: empty
    const uint64_t **last_use;
    uint64_t *stamp;
    uint32_t *filter; // index of the filter's entry, or not_filtered
    uint8_t *dirty;
};

// What a level is still to be asked: line << 1 | is a write-back, in order.
constexpr unsigned queue_length = 32;
struct Waiting {
    uint32_t count;
    uint64_t lines[queue_length];
};

struct Recorder {
    tc_recorder twins; // first: what twins see
    uint32_t way[TC_FILTER_ENTRIES];
    uint32_t owner[TC_FILTER_ENTRIES];
    FirstLevel first;
    Cache own[max_cache_levels]; // the private levels from the second on
    Waiting waiting[max_cache_levels];
    Traffic *traffic;    // by owner
    uintptr_t busy;      // the stack address of the miss being served, or 0
    unsigned char *held; // lock held by it
    uintptr_t stack_low, stack_high;
    Recorder *next;
    uint32_t in_use;
};

// The hierarchy; constant after trace_start, but for the shared levels' contents.
struct Model {
    unsigned levels; // 0: not started
    CacheGeometry geometry[max_cache_levels];
    uint64_t first_sets, first_mask; // mask 0: sets are no power of two
    Cache shared[max_cache_levels];
    unsigned char *locks[max_cache_levels]; // for groups of a shared level's sets
    bool by_tier;                           // owners are tiers, not sites
    Recorder *recorders;                    // all that were ever made
};
extern Model model;

constexpr unsigned lock_groups = 512, lock_stride = 64;

// Brings a line into the filter.  Afterwards the entry is the line's, unless a signal's
// handler interrupted the recorder itself: then nothing happens.
void miss(Recorder &, uint64_t line);
// Ends a filter entry: its counts go to its owner, its stamp to the first level.
void settle(Recorder &, uint32_t entry);
// Serves what waits, so that the numbers are complete.
void flush(Recorder &);
// A thread ends: what its private levels hold dirty goes to the level behind them.
void drain(Recorder &);

uint32_t owner_of(const Recorder &, uintptr_t address);

inline uint64_t filter_offset(uint64_t line) { return TC_FILTER_OFFSET(line); }
inline tc_filter_entry &filter_entry(Recorder &r, uint64_t line) {
    return *reinterpret_cast<tc_filter_entry *>(reinterpret_cast<char *>(r.twins.filter) +
                                                filter_offset(line));
}
inline void add(uint64_t &counter, uint64_t n) {
    __atomic_store_n(&counter, __atomic_load_n(&counter, __ATOMIC_RELAXED) + n, __ATOMIC_RELAXED);
}

} // namespace tc
