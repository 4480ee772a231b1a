// The kernels for vectors of so many doubles.  Eight vectors at a time: as many additions are
// under way as a processor's units take.
#pragma once
#include "measure/kernels.h"
#include <utility>

namespace measure {

template <unsigned lanes> struct KernelsOf {
    typedef double Vector __attribute__((vector_size(lanes * sizeof(double))));
    static constexpr unsigned unrolled = 8;
    static constexpr unsigned stride = unrolled * lanes;
    static_assert(block_doubles % stride == 0);

    static Vector load(const double *p) { return *reinterpret_cast<const Vector *>(p); }
    static void store(double *p, Vector value) { *reinterpret_cast<Vector *>(p) = value; }
    static void stream(double *p, Vector value) {
        __builtin_nontemporal_store(value, reinterpret_cast<Vector *>(p));
    }
    static void drain() { __builtin_ia32_sfence(); }

    static double sum(const Vector (&each)[unrolled]) {
        double total = 0;
        for (const Vector &vector : each)
            for (unsigned lane = 0; lane < lanes; lane++)
                total += vector[lane];
        return total;
    }

    static double write(double *a, const double *b, const double *, size_t n) {
        const Vector value = load(b);
        for (size_t i = 0; i < n; i += stride)
            for (unsigned k = 0; k < unrolled; k++)
                stream(a + i + k * lanes, value);
        drain();
        return 0;
    }

    static double copy(double *a, const double *b, const double *, size_t n) {
        for (size_t i = 0; i < n; i += stride)
            for (unsigned k = 0; k < unrolled; k++)
                stream(a + i + k * lanes, load(b + i + k * lanes));
        drain();
        return 0;
    }

    static double update(double *a, const double *, const double *, size_t n) {
        for (size_t i = 0; i < n; i += stride)
            for (unsigned k = 0; k < unrolled; k++)
                store(a + i + k * lanes, load(a + i + k * lanes) + 1.0);
        return 0;
    }

    static double update2(double *a, const double *b, const double *, size_t n) {
        for (size_t i = 0; i < n; i += stride)
            for (unsigned k = 0; k < unrolled; k++)
                store(a + i + k * lanes, load(a + i + k * lanes) + load(b + i + k * lanes));
        return 0;
    }

    static double update3(double *a, const double *b, const double *c, size_t n) {
        for (size_t i = 0; i < n; i += stride)
            for (unsigned k = 0; k < unrolled; k++) {
                const size_t at = i + k * lanes;
                store(a + at, load(a + at) + load(b + at) + load(c + at));
            }
        return 0;
    }

    // An accumulator s becomes s/2 + x: with ones it stays at the two that it begins with.
    template <unsigned count>
    static double accumulate(double *a, const double *, const double *, size_t n) {
        Vector sums[unrolled];
        for (Vector &each : sums)
            each = Vector{} + (count ? 2.0 : 0.0);
        for (size_t i = 0; i < n; i += stride) {
            if constexpr (count == 0) {
                for (unsigned k = 0; k < unrolled; k++)
                    sums[k] += load(a + i + k * lanes);
            } else {
#pragma clang loop unroll_count(8)
                for (unsigned step = 0; step < count; step++)
                    for (unsigned k = 0; k < unrolled; k++)
                        sums[k] = sums[k] * 0.5 + load(a + i + k * lanes);
            }
        }
        return sum(sums);
    }

    template <size_t... index>
    static consteval Kernels make(const char *isa, std::index_sequence<index...>) {
        return {isa,
                lanes,
                {accumulate<0>, write, copy, update, update2, update3},
                {accumulate<steps[index]>...}};
    }
    static consteval Kernels make(const char *isa) {
        return make(isa, std::make_index_sequence<step_counts>());
    }
};

} // namespace measure
