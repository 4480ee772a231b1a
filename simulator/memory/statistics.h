// What a memory did: exact counts, and a histogram of latencies.
#pragma once
#include "simulator/memory/request.h"
#include <array>
#include <bit>
#include <cstdint>

namespace thermocline {

// Counts of times, in buckets that are an eighth of a power of two wide.
class Histogram {
  public:
    static constexpr unsigned parts = 8, buckets = 42 * parts;

    void add(Ps time) {
        counts_[bucket(time)]++;
        sum_ += time;
        if (time > greatest_)
            greatest_ = time;
    }
    static unsigned bucket(Ps time) {
        if (time < parts)
            return unsigned(time);
        const unsigned shift = unsigned(std::bit_width(time)) - 4; // leaves 4 bits, the first 1
        const unsigned index = parts + shift * parts + unsigned(time >> shift & (parts - 1));
        return index < buckets ? index : buckets - 1;
    }
    // The least time of a bucket.
    static Ps from(unsigned bucket) {
        if (bucket < parts)
            return bucket;
        return Ps(parts + bucket % parts) << (bucket / parts - 1);
    }
    const std::array<uint64_t, buckets> &counts() const { return counts_; }
    Ps sum() const { return sum_; }
    Ps greatest() const { return greatest_; }

  private:
    std::array<uint64_t, buckets> counts_{};
    Ps sum_ = 0, greatest_ = 0;
};

struct Traffic {
    uint64_t reads = 0, writes = 0, read_bytes = 0, write_bytes = 0; // requests as they came
    Histogram read_latency; // arrival at the memory to the return of the last byte
};

// Energy in pJ: what was done, and what time cost.
struct Energy {
    double activate = 0, read = 0, write = 0, refresh = 0, background = 0, fixed = 0;
    double total() const { return activate + read + write + refresh + background + fixed; }
};

// DRAM or NVM.  Bursts, not requests.
struct PartStatistics {
    std::array<Traffic, purposes> traffic; // by Purpose
    uint64_t read_bursts = 0, write_bursts = 0;
    Ps bus_busy = 0; // carrying data, summed over channels
    Energy energy;
};

struct Statistics {
    Ps until = 0;
    PartStatistics dram, nvm;
    // DRAM: bursts by what their row needed; refreshes of ranks.
    uint64_t row_hits = 0, row_misses = 0, row_conflicts = 0;
    uint64_t activates = 0, refreshes = 0;
    uint64_t answered = 0, merged = 0; // reads and writes that met a waiting write
    // NVM: blocks.
    uint64_t media_reads = 0, media_writes = 0, buffer_hits = 0, combined = 0;
    // Link.
    uint64_t request_bytes = 0, response_bytes = 0; // with headers
    double link_pj = 0;
};

} // namespace thermocline
