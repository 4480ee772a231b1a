// Faults at a stride, and those that only look so.
#include "check.h"
#include "migration/engine/strides.h"
#include <random>

using namespace tc;

namespace {

constexpr uint64_t start = uint64_t(7) << 40, chunk = 64 << 10;

// The stream's faults when all that is brought ahead of it arrives in time.
unsigned faults_of(Strides &strides, uint64_t at, int64_t stride, unsigned chunks) {
    unsigned faults = 0;
    for (unsigned done = 0; done < chunks;) {
        const auto ahead = strides.fault(at);
        expect_true(ahead.chunks == 0 || ahead.stride == stride);
        expect_true(ahead.chunks == 0 || ahead.from == at + uint64_t(stride));
        expect_true(ahead.chunks <= Strides::most_ahead);
        at += uint64_t(stride) * (1 + ahead.chunks);
        done += 1 + ahead.chunks;
        faults++;
    }
    return faults;
}

} // namespace

TEST(three_faults_make_a_stream_and_it_grows) {
    Strides strides;
    expect_eq(strides.fault(start).chunks, 0u);
    expect_eq(strides.fault(start + chunk).chunks, 0u);
    uint64_t at = start + 2 * chunk;
    for (const unsigned wanted : {1u, 2u, 4u, 8u, 16u, 16u}) {
        const auto ahead = strides.fault(at);
        expect_eq(ahead.chunks, wanted);
        expect_eq(ahead.from, at + chunk);
        at += chunk * (1 + wanted);
    }
}

TEST(any_stride_both_ways) {
    for (const int64_t stride : {4096l, -4096l, 65536l, -65536l, 3 * 65536l, 2l << 20}) {
        Strides strides;
        expect_true(faults_of(strides, start, stride, 1000) < 1000 / 10);
    }
}

TEST(streams_beside_each_other) {
    Strides strides;
    unsigned brought = 0;
    for (unsigned step = 0; step < 100; step++)
        for (uint64_t stream = 0; stream < Strides::most_streams; stream++)
            brought += strides.fault(start + (stream << 30) + step * chunk).chunks > 0;
    expect_eq(brought, 98 * Strides::most_streams);
}

TEST(a_stream_that_turns_begins_anew) {
    Strides strides;
    faults_of(strides, start, chunk, 20);
    expect_eq(strides.fault(start + 3 * chunk).chunks, 0u);
    expect_eq(strides.fault(start + 3 * chunk).chunks, 0u); // again and again the same
    expect_eq(strides.fault(start + 3 * chunk).chunks, 0u);
}

TEST(chance_makes_few) {
    Strides strides;
    std::mt19937_64 random(1);
    unsigned brought = 0;
    for (unsigned i = 0; i < 10000; i++)
        brought += strides.fault(start + random() % 4096 * chunk).chunks;
    expect_true(brought < 10000 / 10);
}
