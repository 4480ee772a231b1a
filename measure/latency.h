// Seconds that a load waits, alone and while other processors load the memory.
#pragma once
#include "measure/chase.h"
#include "measure/kernels.h"
#include "measure/memory.h"
#include <vector>

namespace measure {

// Seconds a load over the first `bytes` of the memory, one value a go; processor time, so that
// what else runs on the host is not in it.
std::vector<double> latency(const Memory &memory, size_t bytes, Order order, unsigned cpu,
                            unsigned goes);

struct Loaded {
    std::vector<double> seconds;   // of a load
    std::vector<double> bandwidth; // bytes a second in all at the same time
    unsigned quiet;                // goes in which nothing took a processor away
};

// The same on the first processor while all others read, each waiting `pause` additions after
// every 4 KiB.
Loaded loaded_latency(const Kernels &kernels, const Memory &chased, const Memory &read,
                      const std::vector<unsigned> &cpus, unsigned pause, unsigned goes);

} // namespace measure
