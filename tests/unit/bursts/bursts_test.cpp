// What is made of bursts: sums, their error, and how long they are.
#include "bursts/estimate.h"
#include "bursts/phases.h"
#include "check.h"
#include <cmath>
#include <memory>
#include <random>

using tc::BurstEstimate;
using tc::BurstPhases;
using tc::Traffic;

namespace {

std::unique_ptr<BurstEstimate> estimate_of(uint32_t owners) {
    auto made = std::make_unique<BurstEstimate>();
    expect_true(made->start(owners));
    return made;
}

void expect_near(double value, double wanted, double share) {
    expect_true(std::abs(value - wanted) <= share * std::abs(wanted));
}

} // namespace

TEST(a_run_of_its_beginning_only_is_exact) {
    auto estimate = estimate_of(2);
    Traffic seen[2] = {{10, 20, 640, 64}, {1, 0, 0, 0}};
    estimate->add_begin(seen, 2, 1000);
    Traffic sum = estimate->sum(0, 1000);
    expect_eq(sum.loads, uint64_t(10));
    expect_eq(sum.stores, uint64_t(20));
    expect_eq(sum.read_bytes, uint64_t(640));
    expect_eq(sum.write_bytes, uint64_t(64));
    expect_eq(estimate->sum(1, 1000).loads, uint64_t(1));
    expect_eq(estimate->sum(7, 1000).loads, uint64_t(0)); // nobody
    expect_true(estimate->error_bytes(0, 1000) == 0);
}

TEST(the_beginning_stands_for_all_until_there_is_a_burst) {
    auto estimate = estimate_of(1);
    Traffic seen[1] = {{10, 0, 640, 0}};
    estimate->add_begin(seen, 1, 1000);
    expect_eq(estimate->sum(0, 3000).read_bytes, uint64_t(1920));
}

// The beginning's traffic is its own; the rest of the work has the bursts' rate.
TEST(bursts_stand_for_the_rest) {
    auto estimate = estimate_of(1);
    Traffic begin[1] = {{0, 0, 6400, 0}}, burst[1] = {{100, 0, 0, 64}};
    estimate->add_begin(begin, 1, 1000);
    estimate->add(burst, 1, 100, 5);
    Traffic sum = estimate->sum(0, 11000);
    expect_eq(sum.loads, uint64_t(10000));
    expect_eq(sum.read_bytes, uint64_t(6400));
    expect_eq(sum.write_bytes, uint64_t(6400));
}

// A slow phase is met by more bursts than its work deserves: weights take that back.  Two phases
// of equal work, one three times slower; time strikes each as often as it lasts.
TEST(time_is_not_work) {
    auto estimate = estimate_of(2);
    Traffic slow[2] = {{0, 0, 640, 0}, {}}, fast[2] = {{}, {0, 0, 640, 0}};
    std::mt19937 random(1);
    for (int i = 0; i < 4000; i++) {
        bool is_slow = random() % 4 < 3;
        estimate->add(is_slow ? slow : fast, 2, 1000, is_slow ? 1 : 3);
    }
    Traffic first = estimate->sum(0, 1000000), second = estimate->sum(1, 1000000);
    expect_near(double(first.read_bytes), 320000, 0.05);
    expect_near(double(second.read_bytes), 320000, 0.05);
    expect_near(double(first.read_bytes + second.read_bytes), 640000, 1e-5);
}

// 95 % intervals hold the truth in about 95 of 100 cases.
TEST(the_interval_holds_the_truth) {
    std::mt19937 random(2);
    std::uniform_int_distribution<uint64_t> bytes(0, 2000);
    unsigned held = 0;
    constexpr unsigned cases = 400, bursts = 60;
    for (unsigned i = 0; i < cases; i++) {
        auto estimate = estimate_of(1);
        for (unsigned b = 0; b < bursts; b++) {
            Traffic seen[1] = {{0, 0, bytes(random), bytes(random)}};
            estimate->add(seen, 1, 100, 1);
        }
        Traffic sum = estimate->sum(0, 100000);
        double error = double(sum.read_bytes + sum.write_bytes) - 2000.0 * 1000;
        held += std::abs(error) <= estimate->error_bytes(0, 100000);
    }
    expect_true(held > cases * 90 / 100);
    expect_true(held < cases * 99 / 100);
}

TEST(what_saw_no_work_says_nothing) {
    auto estimate = estimate_of(1);
    Traffic seen[1] = {{5, 5, 640, 0}};
    estimate->add(seen, 1, 0, 1);
    estimate->add(seen, 1, 10, 0);
    expect_eq(estimate->bursts(), 0u);
    estimate->add(seen, 1, 10, 1);
    estimate->forget();
    expect_eq(estimate->sum(0, 1000).read_bytes, uint64_t(0));
}

TEST(warming_fills_the_cache_at_the_rate_seen_so_far) {
    constexpr uint64_t lines = 100000;
    BurstPhases phases;
    phases.start(0.05);
    uint64_t unknown = phases.warming(lines);
    expect_true(unknown > lines);
    phases.learn(40000000, 4000000); // a line in ten instructions
    expect_eq(phases.warming(lines), uint64_t(1500000));
    expect_eq(phases.warming(10), BurstPhases::least_work);
    BurstPhases hits;
    hits.start(0.05);
    hits.learn(1000000000, 0);
    expect_true(hits.warming(lines) > unknown);
    expect_true(hits.warming(lines) < 1000 * lines); // it ends
}

TEST(gaps_keep_the_budget_and_no_step) {
    BurstPhases phases;
    phases.start(0.05);
    double sum = 0;
    uint64_t least = UINT64_MAX, most = 0;
    for (int i = 0; i < 1000; i++) {
        uint64_t gap = phases.gap(1000000);
        sum += double(gap);
        least = gap < least ? gap : least;
        most = gap > most ? gap : most;
    }
    expect_near(sum / 1000, 19e6, 0.03);
    expect_true(most > least + least / 2);
    BurstPhases always;
    always.start(1);
    expect_eq(always.gap(1000000), uint64_t(0));
}
