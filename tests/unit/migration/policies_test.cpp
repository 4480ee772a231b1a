// The policies against the text of Ryoo 2017's Algorithms 1 to 3, written again with plain maps,
// on streams of faults that are random, local or sequential.
#include "check.h"
#include "migration/policies/fixed.h"
#include "migration/policies/history.h"
#include "migration/policies/sampling.h"
#include <map>
#include <random>

using namespace thermocline::migration;

namespace {

constexpr uint64_t kib = 1024, mib = 1024 * kib, start = uint64_t(1) << 40;

struct Accessed final : Near {
    double share = 1; // of each chunk's pages
    double not_accessed(uint64_t, Granularity) const override { return 1 - share; }
};

// Algorithms 1 and 2, line by line; the two slips of the print are as history.h says.
struct PlainHistory {
    uint64_t granularity = 4 * kib;
    std::map<uint64_t, uint64_t> in_2m, in_64k;
    uint32_t regions_2m = 0, regions_64k = 0, unuse_4k = 0, unuse_64k = 0;

    uint64_t move_in(uint64_t address) {
        const uint64_t pages = granularity / (4 * kib);
        if (granularity != 2 * mib) {
            const uint64_t near = in_2m[address >> 21];
            in_2m[address >> 21] += pages;
            if (double(near) >= 0.85 * 512 && ++regions_2m >= 8)
                return set(2 * mib);
        }
        if (granularity == 4 * kib) {
            const uint64_t near = in_64k[address >> 16];
            in_64k[address >> 16] += pages;
            if (double(near) >= 0.85 * 16 && ++regions_64k >= 8)
                return set(64 * kib);
        }
        return granularity;
    }
    uint64_t set(uint64_t to) {
        in_2m.clear();
        in_64k.clear();
        regions_2m = regions_64k = 0;
        return granularity = to;
    }
    uint64_t move_out(double not_accessed) {
        if (granularity == 4 * kib)
            return granularity;
        uint64_t to = granularity;
        if (not_accessed >= 0.85) {
            if (++unuse_4k >= 8)
                to = 4 * kib;
        } else if (granularity == 2 * mib && not_accessed >= 1 - 0.85) {
            if (++unuse_64k >= 8)
                to = 64 * kib;
        }
        if (to != granularity)
            unuse_4k = unuse_64k = 0;
        return granularity = to;
    }
};

} // namespace

TEST(fixed_is_fixed) {
    Fixed fixed(Granularity::block);
    Accessed near;
    expect_eq(fixed.move_in(start), Granularity::block);
    expect_eq(fixed.move_out(start, near), Granularity::block);
    expect_eq(bytes_of(Granularity::block), 64 * kib);
    expect_eq(pages_of(Granularity::region), 512u);
}

TEST(history_is_the_algorithms) {
    uint32_t changes = 0;
    for (unsigned seed = 0; seed < 20; seed++) {
        std::mt19937_64 random(seed);
        History history;
        PlainHistory plain;
        Accessed near;
        uint64_t last = 0, at = start;
        for (int step = 0; step < 60000; step++) {
            if (random() % 3 != 0) {
                at = random() % 50 ? at + plain.granularity : start + random() % (64 * mib);
                const uint64_t got = bytes_of(history.move_in(at));
                expect_eq(got, plain.move_in(at));
                changes += got != last;
                last = got;
            } else {
                near.share = double(random() % 101) / 100;
                // 1 - (1 - x) is not x: the same number for both.
                const double not_accessed = near.not_accessed(0, Granularity::page);
                expect_eq(bytes_of(history.move_out(at, near)), plain.move_out(not_accessed));
            }
        }
    }
    expect_lt(100u, changes); // the streams do make it change its mind
}

TEST(history_goes_from_pages_to_regions_and_back) {
    History history;
    for (uint64_t at = start; at < start + 64 * mib; at += 4 * kib)
        history.move_in(at);
    expect_eq(history.current(start), Granularity::region);
    Accessed near;
    near.share = 1.0 / 512;
    for (int victim = 0; victim < 8; victim++)
        history.move_out(start, near);
    expect_eq(history.current(start), Granularity::page);
    std::mt19937_64 random(1);
    for (int fault = 0; fault < 20000; fault++) // strewn over 8 GiB
        history.move_in(start + random() % (uint64_t(8) << 30));
    expect_eq(history.current(start), Granularity::page);
}

// Moves in each phase so often as `moves` says, and gives what the execution phase runs at.
static Granularity sampled(const uint32_t (&moves)[3], double region_ratio = 2) {
    Sampling sampling({.region_ratio = region_ratio});
    uint64_t now = 12345;
    sampling.tick(now);
    for (unsigned phase = 0; phase < 3; phase++) {
        expect_eq(sampling.current(start), Granularity(phase));
        for (uint32_t move = 0; move < moves[phase]; move++)
            sampling.moved({start, Granularity(phase), 1, true, 1});
        sampling.tick(now + 9'999'999);
        expect_eq(sampling.current(start), Granularity(phase));
        sampling.tick(now += 10'000'000);
    }
    const Granularity chosen = sampling.move_in(start);
    sampling.tick(now + 199'999'999);
    expect_eq(sampling.current(start), chosen);
    sampling.tick(now + 200'000'000);
    expect_eq(sampling.current(start), Granularity::page);
    return chosen;
}

TEST(sampling_compares_shootdowns) {
    expect_eq(sampled({1000, 900, 500}), Granularity::region); // a ratio of 2, to the dot
    expect_eq(sampled({1000, 1, 501}), Granularity::block);    // whatever 64 KiB counted
    expect_eq(sampled({1000, 1, 1000}), Granularity::page);
    expect_eq(sampled({1000, 1, 4000}), Granularity::page);
    expect_eq(sampled({1000, 1, 0}), Granularity::region);
    expect_eq(sampled({0, 0, 0}), Granularity::page);
    expect_eq(sampled({1000, 1, 300}, 4), Granularity::block);
}
