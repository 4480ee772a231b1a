// What a core is, and the time it counts in.
#pragma once
#include "simulator/time.h"
#include <cmath>
#include <cstdint>

namespace thermocline {

// A core's own time is finer than a picosecond: an instruction of a wide core is no whole
// number of those, and the error would add up over a run.
using Tick = uint64_t;
constexpr unsigned ticks_per_ps = 1024;
constexpr Tick unknown = UINT64_MAX; // not certain yet

constexpr Tick ticks(Ps time) { return time == never ? unknown : time * ticks_per_ps; }
constexpr Ps ceil_ps(Tick time) {
    return time == unknown ? never : (time + ticks_per_ps - 1) / ticks_per_ps;
}

struct CoreParameters {
    double hertz = 2e9;
    uint32_t width = 4;        // instructions dispatched and retired a cycle
    uint32_t window = 224;     // instructions between dispatch and retirement
    uint32_t outstanding = 10; // lines that the first level waits for
    uint32_t store_buffer = 56;

    Tick cycle() const { return Tick(std::llround(1e12 / hertz * ticks_per_ps)); }
    Tick instruction() const {
        return Tick(std::llround(1e12 / hertz * ticks_per_ps / double(width)));
    }
};

} // namespace thermocline
