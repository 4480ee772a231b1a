// One cache against lists in order of use.
#include "check.h"
#include "simulator/cache.h"
#include <algorithm>
#include <random>

using thermocline::Cache;
using thermocline::CacheGeometry;
using thermocline::CacheLine;
using thermocline::SetIndex;

static void expect_lru(uint32_t ways, uint64_t sets, unsigned seed) {
    CacheGeometry geometry{sets * ways * 64, ways, 64, false};
    expect_true(geometry.valid());
    std::vector<uint64_t> memory(Cache::words(geometry));
    Cache cache;
    cache.init(geometry, memory.data());
    struct Line {
        uint64_t number;
        bool dirty;
        uint32_t owner;
    };
    std::vector<std::vector<Line>> expected(sets); // most recent last
    std::mt19937 random(seed);
    unsigned hits = 0, evictions = 0;
    for (unsigned step = 0; step < 200000; step++) {
        uint64_t number = (uint64_t(1) << 40) - 1 - random() % (sets * ways * 3 / 2);
        bool dirty = random() % 3 == 0;
        uint32_t owner = random() % CacheLine::max_owner;
        auto &lines = expected[number % sets];
        auto at = std::find_if(lines.begin(), lines.end(),
                               [&](const Line &line) { return line.number == number; });
        bool here = at != lines.end();
        if (here) {
            hits++;
            Line line = *at;
            lines.erase(at);
            if (dirty)
                line = {number, true, owner ? owner : line.owner};
            lines.push_back(line);
        }
        uint64_t *set = cache.set(number);
        unsigned place = cache.find(set, number);
        expect_eq(place < ways, here);
        if (place < ways) {
            CacheLine old(set[place]), line(number, true, owner ? owner : old.owner());
            cache.put_first(set, place, dirty ? line.word() : old.word());
            continue;
        }
        CacheLine victim(set[ways - 1]);
        cache.put_first(set, ways - 1, CacheLine(number, dirty, owner).word());
        expect_eq(victim.present(), lines.size() == ways);
        if (lines.size() == ways) {
            evictions++;
            expect_eq(victim.line(), lines.front().number);
            expect_eq(victim.dirty(), lines.front().dirty);
            expect_eq(victim.owner(), lines.front().owner);
            lines.erase(lines.begin());
        }
        lines.push_back({number, dirty, owner});
    }
    expect_lt(1000u, hits);
    expect_lt(1000u, evictions);
    size_t left = 0, all = 0;
    cache.drain([&](CacheLine) { left++; });
    for (const auto &lines : expected)
        all += lines.size();
    expect_eq(left, all);
    cache.drain([&](CacheLine) { check::fail(__FILE__, __LINE__, "a line is left over"); });
}

TEST(one_way) { expect_lru(1, 64, 1); }
TEST(two_ways) { expect_lru(2, 16, 2); }
TEST(eight_ways) { expect_lru(8, 64, 3); }
TEST(twelve_ways) { expect_lru(12, 64, 4); }
TEST(sixteen_ways) { expect_lru(16, 32, 5); }
TEST(more_ways_than_a_word_orders) { expect_lru(20, 32, 6); }
TEST(one_set) { expect_lru(16, 1, 7); }
TEST(sets_no_power_of_two) { expect_lru(15, 77, 8); }
TEST(set_index_is_the_remainder) {
    std::mt19937_64 random(9);
    for (uint64_t sets : {1, 2, 3, 64, 77, 1000, 65535, 65536, 8388607, 8388608}) {
        expect_true(SetIndex::exact(sets));
        for (unsigned i = 0; i < 10000; i++) {
            // Where the next multiple begins, errors would show first.
            uint64_t line = random() >> (64 - CacheLine::line_bits);
            uint64_t edge = line / sets * sets;
            for (uint64_t each : {line, edge, edge ? edge - 1 : 0})
                expect_eq(SetIndex(sets).of(each), each % sets);
        }
    }
    expect_true(!SetIndex::exact(8388609));
    expect_true(SetIndex::exact(uint64_t(1) << 30));
}
TEST(geometry_that_does_not_divide_is_invalid) {
    expect_true(!CacheGeometry{}.valid());
    expect_true(!(CacheGeometry{1000, 3, 64, false}.valid()));
}
