// What is measured: sequential patterns of access, and an accumulation with more and more
// arithmetic on each byte, for vectors of one width.
#pragma once
#include <cstddef>

namespace measure {

// The patterns of Peng et al. 2019, Fig. 4.  Every line that a kernel brings in is also read, so
// that the bytes counted are those that move; the non-temporal ones write lines that were not read.
enum Pattern { read_only, nt_write, nt_copy, read1_write1, read2_write1, read3_write1, patterns };

struct PatternTraits {
    const char *name;
    unsigned arrays; // that it goes through at once
    unsigned reads;  // of arrays, in memory traffic
    unsigned writes;
};
inline constexpr PatternTraits pattern_traits[patterns] = {
    {"read", 1, 1, 0}, {"nt-write", 1, 0, 1}, {"nt-copy", 2, 1, 1},
    {"1r1w", 1, 1, 1}, {"2r1w", 2, 2, 1},     {"3r1w", 3, 3, 1},
};

// Multiply-adds on each double that is read; none: one addition.
inline constexpr unsigned steps[] = {0, 1, 2, 4, 8, 16, 32, 64, 128};
inline constexpr unsigned step_counts = sizeof steps / sizeof *steps;
constexpr unsigned flops(unsigned steps_each) { return steps_each ? 2 * steps_each : 1; }

// Arrays' sizes are multiples of so many doubles, and their starts of so many bytes.
inline constexpr size_t block_doubles = 64;

// What a read-only kernel gives is the sum of what its accumulators hold.
using Kernel = double (*)(double *a, const double *b, const double *c, size_t doubles);

struct Kernels {
    const char *isa;
    unsigned lanes; // doubles in a vector
    Kernel pattern[patterns];
    Kernel accumulate[step_counts];
};

// The sum that accumulate[step] gives of so many ones.
double expected_sum(const Kernels &kernels, unsigned step, size_t doubles);

extern const Kernels sse2_kernels, avx2_kernels, avx512_kernels;

// By name, or the widest that this processor has; null if it has not that one.
const Kernels *find_kernels(const char *isa);

} // namespace measure
