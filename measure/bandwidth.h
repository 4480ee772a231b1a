// Bytes a second that threads move together, and operations a second on them.
#pragma once
#include "measure/kernels.h"
#include "measure/memory.h"
#include <functional>
#include <vector>

namespace measure {

struct Traffic {
    std::vector<double> values; // one a go
    unsigned quiet;             // of them, those in which nothing took a processor away
};

// Bytes a second of a pattern over `bytes` in all, with a thread on each processor.  Throws
// WrongResult if the arrays don't hold afterwards what the kernel should have left.
Traffic bandwidth(const Kernels &kernels, Pattern pattern, const Memory &memory,
                  const std::vector<unsigned> &cpus, unsigned goes);

// Bytes a second that are read with steps[step] multiply-adds on each double.
Traffic accumulation(const Kernels &kernels, unsigned step, const Memory &memory,
                     const std::vector<unsigned> &cpus, unsigned goes);

struct WrongResult : std::logic_error {
    using std::logic_error::logic_error;
};

} // namespace measure
