// The measuring kernels do the work that they are counted for, with every width of vectors.
#include "check.h"
#include "measure/kernels.h"
#include "measure/latency.h"
#include <algorithm>
#include <cmath>
#include <set>
#include <utility>
#include <vector>

using namespace measure;

namespace {

constexpr size_t doubles = 3 * block_doubles;

struct Arrays {
    alignas(64) double a[doubles], b[doubles], c[doubles];
    Arrays() {
        for (size_t i = 0; i < doubles; i++) {
            a[i] = static_cast<double>(i);
            b[i] = static_cast<double>(1000 + 2 * i);
            c[i] = static_cast<double>(5000 + 3 * i);
        }
    }
};

std::vector<const Kernels *> all() {
    std::vector<const Kernels *> found;
    for (const char *isa : {"sse2", "avx2", "avx512"})
        if (const Kernels *kernels = find_kernels(isa))
            found.push_back(kernels);
    return found;
}

// What a pattern must leave in a, element by element.
double left(Pattern pattern, const Arrays &before, size_t i) {
    switch (pattern) {
    case nt_write:
        return before.b[0];
    case nt_copy:
        return before.b[i];
    case read1_write1:
        return before.a[i] + 1;
    case read2_write1:
        return before.a[i] + before.b[i];
    case read3_write1:
        return before.a[i] + before.b[i] + before.c[i];
    default:
        return before.a[i];
    }
}

// Eight vectors of accumulators, one after the other through the array.
double accumulated(const Kernels &kernels, unsigned count, const double *a) {
    const unsigned stride = 8 * kernels.lanes;
    std::vector<double> sums(stride, count ? 2.0 : 0.0);
    for (size_t i = 0; i < doubles; i++)
        for (unsigned step = 0; step < std::max(1u, count); step++)
            sums[i % stride] = count ? sums[i % stride] * 0.5 + a[i] : sums[i % stride] + a[i];
    double total = 0;
    for (const double each : sums)
        total += each;
    return total;
}

} // namespace

TEST(some_kernels_work_here) {
    expect_true(!all().empty());
    expect_true(find_kernels("auto") == all().back());
    expect_true(find_kernels("altivec") == nullptr);
}

TEST(patterns_leave_what_they_are_counted_for) {
    for (const Kernels *kernels : all())
        for (unsigned p = 0; p < patterns; p++) {
            const auto pattern = static_cast<Pattern>(p);
            const Arrays before;
            Arrays now;
            if (pattern == nt_write)
                std::fill_n(now.b, 8, before.b[0]);
            kernels->pattern[p](now.a, now.b, now.c, doubles);
            size_t wrong = 0;
            for (size_t i = 0; i < doubles; i++)
                wrong += now.a[i] != left(pattern, before, i);
            expect_eq(wrong, size_t(0));
        }
}

TEST(accumulations_are_those_of_plain_loops) {
    for (const Kernels *kernels : all())
        for (unsigned step = 0; step < step_counts; step++) {
            const Arrays arrays;
            const double ours = kernels->accumulate[step](const_cast<double *>(arrays.b), nullptr,
                                                          nullptr, doubles);
            const double theirs = accumulated(*kernels, steps[step], arrays.b);
            expect_true(std::abs(ours - theirs) <= 1e-12 * theirs);
        }
}

TEST(sums_of_ones_are_exact) {
    std::vector<double> ones(doubles + 8, 1.0);
    auto *start = ones.data();
    while (reinterpret_cast<uintptr_t>(start) % 64)
        start++;
    for (const Kernels *kernels : all())
        for (unsigned step = 0; step < step_counts; step++)
            expect_eq(kernels->accumulate[step](start, nullptr, nullptr, doubles),
                      expected_sum(*kernels, step, doubles));
}

TEST(a_chase_comes_to_every_line_once) {
    constexpr size_t lines = 200; // three pages and a part of one
    alignas(64) static char block[lines * line_bytes];
    for (const Order order : {Order::sequential, Order::paged, Order::random}) {
        thread_lines(block, sizeof block, order);
        std::set<void **> seen;
        auto *at = reinterpret_cast<void **>(block);
        for (size_t i = 0; i < lines; i++) {
            seen.insert(at);
            at = follow(at, 1);
        }
        expect_eq(seen.size(), lines);
        expect_true(at == reinterpret_cast<void **>(block));
        expect_true(follow(at, 37) == follow(follow(at, 18), 19));
    }
}

TEST(orders_are_what_they_say) {
    constexpr size_t lines = 256, page = 64;
    alignas(64) static char block[lines * line_bytes];
    const auto jumps = [&](Order order) { // that leave the page
        thread_lines(block, sizeof block, order);
        auto *at = reinterpret_cast<void **>(block);
        size_t count = 0, straight = 0;
        for (size_t i = 0; i < lines; i++) {
            auto *next = follow(at, 1);
            const size_t from = (reinterpret_cast<char *>(at) - block) / line_bytes;
            const size_t to = (reinterpret_cast<char *>(next) - block) / line_bytes;
            count += from / page != to / page;
            straight += to == (from + 1) % lines;
            at = next;
        }
        return std::pair(count, straight);
    };
    expect_eq(jumps(Order::sequential).second, lines);
    expect_eq(jumps(Order::paged).first, lines / page);
    expect_lt(jumps(Order::paged).second, lines / 4);
    expect_lt(lines / 2, jumps(Order::random).first);
}
