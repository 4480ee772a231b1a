// A thread's recorder and the cache model behind it.
#pragma once
#include "record.h"
#include "simulator/cache.h"
#include "traffic.h"

namespace tc {

using thermocline::Cache;
using thermocline::CacheGeometry;
using thermocline::CacheLine;
using thermocline::SetIndex;

constexpr unsigned max_cache_levels = 4;

// What traffic is charged to: the kinds of non-heap memory, then the sites (or tiers).
constexpr uint32_t first_site_owner = nonheap_kinds;
constexpr uint32_t max_owner = CacheLine::max_owner;

// What a level is still to be asked, in order: lines that the level before misses, and
// (dirty) lines that it writes back.  A level asks at most two things of the next one
// for each that it is asked itself.
// Long, since serving a batch drives the first level out of the host's own caches.
constexpr unsigned queue_length = 1024;
struct Waiting {
    uint32_t count;
    CacheLine lines[queue_length << (max_cache_levels - 1)];
};

struct StreamBuffer;

struct Recorder {
    tc_recorder twins;           // first: what twins see
    alignas(64) tc_way no_way;   // what the filter's empty entries point to
    char *blocks;                // the first level, set by set
    Cache own[max_cache_levels]; // the private levels from the second on
    Waiting waiting[max_cache_levels];
    Traffic *traffic;    // by owner
    uintptr_t busy;      // the stack address of the miss being served, or 0
    unsigned char *held; // lock held by it
    uint32_t locks;      // whether levels are to be locked: for the batch at hand
    uint32_t serving;    // a batch is at hand
    uintptr_t stack_low, stack_high;
    Recorder *next;
    StreamBuffer *stream; // where references go instead (stream.h)
    uint32_t in_use;
    // The program's vector registers, while a batch is at hand.
    alignas(64) unsigned char registers[2752];
};

// The hierarchy; constant after trace_start, but for the shared levels' contents.
struct Model {
    unsigned levels; // 0: not started
    CacheGeometry geometry[max_cache_levels];
    SetIndex first;      // the first level's sets
    uint64_t set_blocks; // of each
    Cache shared[max_cache_levels];
    unsigned char *locks[max_cache_levels]; // for groups of a shared level's sets
    bool by_tier;                           // owners are tiers, not sites
    uint32_t batch;                         // as many as wait before they are served
    bool several;                           // more than one recorder was ever made
    void (*serve)(Recorder &);              // the levels behind the first
    bool vectors;                           // serve uses vector registers
    Recorder *recorders;                    // all that were ever made
};
extern Model model;

constexpr unsigned lock_groups = 512, lock_stride = 64;

// The levels behind the first serve what waits (levels.h), without vector registers and
// with those that the processor may have.
void serve_levels(Recorder &);
void serve_levels_avx2(Recorder &);
void serve_levels_avx512(Recorder &);

// The way that holds a line, which is brought in if need be; null, and nothing happens, if a
// signal's handler interrupted the recorder itself.
tc_way *miss(Recorder &, uint64_t line);
// Serves what waits for the levels behind the first.
TC_PRESERVE void serve(Recorder &);
// A piece of the recorder's work is to start while another one is under way: false if that
// one has to finish first, since this is a signal's handler on top of it.
TC_PRESERVE bool take_over(Recorder &, uintptr_t here);
// A way's counts go to its owner.
void settle(Recorder &, tc_way &way);
// Calls visit(way) for each way of the first level.
template <class Visit> void each_way(const Recorder &r, Visit visit) {
    uint64_t set_bytes = model.set_blocks * sizeof(tc_way);
    for (uint64_t set = 0; set < model.first.sets(); set++)
        for (uint64_t i = 0; i < model.geometry[0].ways; i++)
            visit(*reinterpret_cast<tc_way *>(r.blocks + set * set_bytes +
                                              i / TC_BLOCK_WAYS * sizeof(tc_way) +
                                              i % TC_BLOCK_WAYS * sizeof(uint64_t)));
}
// Serves what waits, so that the numbers are complete.
void flush(Recorder &);
// A thread ends: what its private levels hold dirty goes to the level behind them.
void drain(Recorder &);

TC_PRESERVE uint32_t owner_of(const Recorder &, uintptr_t address);

inline tc_way *&filter_entry(Recorder &r, uint64_t line) {
    return *reinterpret_cast<tc_way **>(reinterpret_cast<char *>(r.twins.filter) +
                                        TC_FILTER_OFFSET(line));
}
[[gnu::always_inline]] inline void add(uint64_t &counter, uint64_t n) {
    __atomic_store_n(&counter, __atomic_load_n(&counter, __ATOMIC_RELAXED) + n, __ATOMIC_RELAXED);
}

} // namespace tc
