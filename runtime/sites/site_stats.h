// What the profiling heap counts for each site.
//
// A thread counts for itself and a reader sums, so that no two threads write one line.  Only the
// live bytes also go to a shared total, at every `flush_bytes` of change, because a peak cannot be
// summed afterwards: it is exact for one thread, and off by at most flush_bytes for each further
// thread that uses the site.
#pragma once
#include "site_heap_clock.h"
#include <atomic>
#include <cstddef>

// The clock of small blocks: time (stats_now) and, in the low 16 bits, the link of a block born
// then. The watching thread sets it every few milliseconds, since reading the processor's counter
// twice a block costs more than everything else about it.  0: nobody sets it, and each reads for
// himself.
extern std::atomic<uint64_t> block_clock;
constexpr uint64_t clock_time(uint64_t clock) { return clock >> 16; }
constexpr uint16_t clock_link(uint64_t clock) { return uint16_t(clock); }
uint64_t clock_now(); // block_clock's value if it were set now
void block_clock_tick();
inline uint64_t small_block_clock() {
    uint64_t clock = block_clock.load(std::memory_order_relaxed);
    return clock ? clock : clock_now();
}

constexpr uint32_t site_limit = 1u << 20; // from here on sites count as unknown, which is 0 here

// One writer, any reader.
template <typename T> class Counter {
  public:
    void add(T n) { value.store(value.load(std::memory_order_relaxed) + n, relaxed); }
    void set(T n) { value.store(n, relaxed); }
    T get() const { return value.load(relaxed); }

  private:
    static constexpr auto relaxed = std::memory_order_relaxed;
    std::atomic<T> value{0};
};

// All threads' view of a site.
struct SiteTotals {
    std::atomic<int64_t> live_bytes, peak_live_bytes;
    std::atomic<uint64_t> first_time;      // of the first allocation; 0: none yet
    std::atomic<int64_t> inherited_blocks; // live when this process was forked
    std::atomic<uint64_t> inherited_births;
};

// One thread's.
struct SiteCounters {
    static constexpr int64_t flush_bytes = 64 << 10;

    SiteTotals *totals;
    Counter<uint64_t> allocations, frees, allocated_bytes;
    // Sums of times, so that lifetimes need no record of each block: modulo 2^64, as their
    // difference is what counts.
    Counter<uint64_t> births, deaths;
    Counter<uint64_t> longest_life;
    Counter<int64_t> unflushed, unflushed_peak; // change of live bytes since the last flush
    Counter<int64_t> tagged_bytes;              // slots in tagged spans, taken less given back

    // Whether nothing seldom has to be done: the first allocation, a flush.
    bool takes_allocated(size_t bytes) const {
        return allocations.get() && unflushed.get() + int64_t(bytes) < flush_bytes;
    }
    bool takes_freed(size_t bytes) const { return unflushed.get() - int64_t(bytes) > -flush_bytes; }
    void allocated(size_t bytes, uint64_t now) {
        allocations.add(1);
        allocated_bytes.add(bytes);
        births.add(now);
        int64_t change = unflushed.get() + int64_t(bytes);
        unflushed.set(change);
        if (change > unflushed_peak.get()) {
            unflushed_peak.set(change);
            if (change >= flush_bytes)
                flush();
        }
    }
    // `birth`: the block's link; `link`: that of one born now.
    void freed(size_t bytes, uint64_t now, uint16_t birth, uint16_t link) {
        frees.add(1);
        deaths.add(now);
        if (birth != link)
            lived(now, birth);
        int64_t change = unflushed.get() - int64_t(bytes);
        unflushed.set(change);
        if (change <= -flush_bytes)
            flush();
    }
    void flush();

  private:
    void lived(uint64_t now, uint16_t link) {
        uint64_t birth = time_of_stamp(link & stamp_max);
        if (now > birth && now - birth > longest_life.get())
            longest_life.set(now - birth);
    }
};

// Time since the heap's start in units of 2^tick_shift ticks.
uint64_t stats_now();
double stats_seconds(uint64_t time); // of a difference of such times

void stats_start();
SiteTotals *stats_totals(uint32_t site); // null when memory is out
uint32_t stats_site_end();               // one more than the largest number seen

struct SiteStats {
    uint64_t allocations, frees, allocated_bytes;
    int64_t live_bytes, peak_live_bytes, tagged_bytes;
    double mean_lifetime_seconds; // blocks that live count up to now
    double longest_dead_seconds;  // of freed blocks; for live ones see longest_live_times
    double first_time_seconds;    // of the first allocation; negative: none
};
SiteStats stats_read(uint32_t site, uint64_t now);

// For each site below `end`, the age at `now` of its oldest live block.  Reads every span's table.
void stats_longest_live(uint64_t now, uint64_t *ages, uint32_t end);

uint64_t stats_counting_since(); // the start, or the fork
unsigned stats_heap_count();     // threads that allocated at the same time, at most

// The child of a fork counts from the fork on; blocks that live then were born then.
void stats_restart_in_child();
