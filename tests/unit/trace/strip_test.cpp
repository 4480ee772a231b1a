// A strip gives exactly the numbers of its references one by one.
#include "check.h"
#include "config.h"
#include "reference.h"
#include "stand_ins.h"
#include "trace/recorder.h"
#include <algorithm>
#include <cstring>
#include <random>

using thermocline::CacheGeometry;

namespace {

constexpr unsigned units = 32, sites = 4;
constexpr uint64_t memory_bytes = uint64_t(units) << site_heap_unit_shift;

struct Group {
    uint64_t start; // from the memory's start
    int64_t step;
    std::vector<tc_reference> references;
    unsigned pieces_shift = 0;
    bool alternating = false; // all of one piece's references before the next one's
    unsigned bytes() const {
        unsigned bytes = 0;
        for (tc_reference r : references)
            bytes = std::max(bytes, unsigned(r.offset + (r.bytes_and_store >> 1)));
        return bytes;
    }
};

struct Loop {
    std::vector<Group> groups;
    uint64_t iterations;
};

// tc_strip and what follows it, as the plugin lays it out.
std::vector<uint32_t> describe(const Loop &loop) {
    std::vector<uint16_t> words;
    unsigned stamps = 0;
    for (const Group &group : loop.groups) {
        unsigned stores = 0;
        for (tc_reference r : group.references)
            stores += r.bytes_and_store & 1;
        auto count = unsigned(group.references.size());
        unsigned pieces = 1u << group.pieces_shift, each = count >> group.pieces_shift;
        unsigned last = group.alternating ? each - 1 : count - pieces;
        for (unsigned word : {group.bytes(), count, count - stores, stores, group.pieces_shift,
                              last, group.alternating ? each : 1u, 0u})
            words.push_back(uint16_t(word));
        for (tc_reference r : group.references) {
            words.push_back(r.offset);
            words.push_back(r.bytes_and_store);
        }
        stamps += TC_STAMPS_PER_REFERENCE * count;
    }
    std::vector<uint32_t> strip{uint32_t(loop.groups.size()), stamps};
    strip.resize(2 + words.size() / 2);
    memcpy(&strip[2], words.data(), words.size() * sizeof words[0]);
    return strip;
}

class Comparison {
  public:
    Comparison(const std::vector<CacheGeometry> &levels)
        : reference(levels, [](uint64_t line) { return owner_in_test(line << 6); }),
          memory(make_owned_memory(units)) {
        tc::Config config{};
        config.trace = true;
        for (const CacheGeometry &level : levels)
            config.caches[config.cache_levels++] = {level.bytes, level.ways, 64, level.shared};
        const char *why = "";
        expect_true(tc::trace_start(config, &why));
        expect_str(why, "");
        r = tc_recorder_make();
    }

    void record(const Loop &loop) {
        std::vector<uint32_t> strip = describe(loop);
        std::vector<tc_walk> walks;
        for (const Group &group : loop.groups)
            walks.push_back({reinterpret_cast<uintptr_t>(memory) + group.start, group.step});
        tc_record_strip(r, reinterpret_cast<tc_strip *>(strip.data()), walks.data(),
                        loop.iterations, r->clock);
        r->clock += strip[1] * loop.iterations;
        for (uint64_t i = 0; i < loop.iterations; i++)
            for (const Group &group : loop.groups)
                for (tc_reference reference : group.references)
                    refer(group.start + i * uint64_t(group.step) + reference.offset,
                          reference.bytes_and_store >> 1, reference.bytes_and_store & 1);
    }

    void record_one(uint64_t at, bool store) {
        auto address = reinterpret_cast<uintptr_t>(memory) + at;
        alignas(8) char group[sizeof(tc_group) + sizeof(tc_reference)];
        auto *one = reinterpret_cast<tc_group *>(group);
        one->count = 1;
        one->loads = !store;
        one->stores = store;
        one->bytes = 8;
        one->references[0] = {0, uint16_t(8 << 1 | store)};
        tc_record_group(r, address, one, r->clock);
        r->clock += TC_STAMPS_PER_REFERENCE;
        refer(at, 8, store);
    }

    bool same() {
        tc::Traffic found[sites], nonheap[tc::nonheap_kinds];
        tc::trace_snapshot(found, sites, nonheap);
        for (uint32_t site = 1; site < sites; site++) {
            const tc::Traffic &expected = reference.traffic[site];
            if (memcmp(&found[site], &expected, sizeof expected) != 0) {
                expect_eq(found[site].loads, expected.loads);
                expect_eq(found[site].stores, expected.stores);
                expect_eq(found[site].read_bytes, expected.read_bytes);
                expect_eq(found[site].write_bytes, expected.write_bytes);
                return false;
            }
        }
        return true;
    }

    ReferenceHierarchy reference;

  private:
    void refer(uint64_t at, uint64_t bytes, bool store) {
        uint64_t address = reinterpret_cast<uintptr_t>(memory) + at;
        reference.refer(address >> 6, store);
        if ((address + bytes - 1) >> 6 != address >> 6)
            reference.refer((address + bytes - 1) >> 6, store);
    }

    char *memory;
    tc_recorder *r;
};

class Loops {
  public:
    Loops(unsigned seed, unsigned most_groups) : random(seed), most_groups(most_groups) {}

    Loop next() {
        Loop loop;
        loop.iterations = below(4) == 0 ? below(5) : below(4) == 0 ? below(1200) : 1 + below(150);
        unsigned groups = 1 + below(most_groups);
        // Arrays at one distance, as those of one allocation routine often are.
        uint64_t distance = uint64_t(64) << below(10), first = below(memory_bytes);
        bool conflicts = below(2), aligned = below(3), one_step = below(2);
        int64_t common = step();
        for (unsigned g = 0; g < groups; g++) {
            Group group;
            group.step = one_step && below(8) ? common : step();
            if (below(3) == 0)
                unroll(group);
            else
                group.references = references(aligned);
            uint64_t length = uint64_t(group.step < 0 ? -group.step : group.step) *
                                  (loop.iterations ? loop.iterations - 1 : 0) +
                              group.bytes();
            if (length > memory_bytes) {
                group.step %= int64_t(memory_bytes / (loop.iterations + 1));
                length = memory_bytes;
            }
            uint64_t start = conflicts ? first + g * distance : below(memory_bytes);
            start = length == memory_bytes ? 0 : start % (memory_bytes - length);
            if (aligned)
                start &= ~uint64_t(7);
            if (group.step < 0)
                start += uint64_t(-group.step) * (loop.iterations ? loop.iterations - 1 : 0);
            group.start = start;
            loop.groups.push_back(std::move(group));
        }
        return loop;
    }
    uint64_t below(uint64_t n) { return random() % n; }

  private:
    int64_t step() {
        static const int64_t steps[] = {0,  1,  4,  8,  8,  8,  16,  24,  32,
                                        40, 48, 64, 64, 72, 96, 128, 4096};
        int64_t step = below(4) ? steps[below(std::size(steps))] : int64_t(below(300));
        return below(4) ? step : -step;
    }
    void unroll(Group &group) {
        group.pieces_shift = 1 + unsigned(below(3));
        group.alternating = below(2);
        unsigned pieces = 1u << group.pieces_shift, bytes = 1u << below(7 - group.pieces_shift);
        unsigned each = 1 + unsigned(below(3)), stores = unsigned(below(8));
        for (unsigned i = 0; i < pieces * each; i++) {
            unsigned piece = group.alternating ? i / each : i % pieces;
            unsigned member = group.alternating ? i % each : i / pieces;
            group.references.push_back(
                {uint16_t(piece * bytes), uint16_t(bytes << 1 | (stores >> member & 1))});
        }
        if (below(4))
            group.step = group.bytes();
    }
    std::vector<tc_reference> references(bool aligned) {
        std::vector<tc_reference> references(1 + (below(2) ? below(6) : 0));
        unsigned least = 64;
        for (tc_reference &r : references) {
            unsigned bytes = aligned ? 8u << below(3) : 1 + unsigned(below(64));
            unsigned offset = unsigned(below(65 - bytes));
            if (aligned)
                offset &= ~7u;
            least = std::min(least, offset);
            r = {uint16_t(offset), uint16_t(bytes << 1 | (below(3) == 0))};
        }
        for (tc_reference &r : references)
            r.offset = uint16_t(r.offset - least);
        return references;
    }

    std::mt19937_64 random;
    unsigned most_groups;
};

std::string show(const Loop &loop) {
    std::string text = std::to_string(loop.iterations) + " iterations";
    for (const Group &group : loop.groups) {
        text += "\n  " + std::to_string(group.start) + " step " + std::to_string(group.step) + ":";
        for (tc_reference r : group.references)
            text += " " + std::to_string(r.offset) + "+" + std::to_string(r.bytes_and_store >> 1) +
                    (r.bytes_and_store & 1 ? "s" : "l");
    }
    return text;
}

void expect_same(const std::vector<CacheGeometry> &levels, unsigned seed, unsigned strips,
                 unsigned most_groups) {
    Comparison comparison(levels);
    Loops loops(seed, most_groups);
    for (unsigned i = 0; i < strips; i++) {
        Loop loop = loops.next();
        comparison.record(loop);
        for (uint64_t k = loops.below(20); k > 0; k--)
            comparison.record_one(loops.below(memory_bytes - 8), loops.below(2));
        if (!comparison.same()) {
            printf("strip %u: %s\n", i, show(loop).c_str());
            return;
        }
    }
    for (uint32_t site = 1; site < sites; site++) {
        expect_lt(0u, comparison.reference.traffic[site].read_bytes);
        expect_lt(0u, comparison.reference.traffic[site].write_bytes);
    }
}

constexpr CacheGeometry last{65536, 16, 64, true};

} // namespace

TEST(ordinary_caches) { expect_same({{32768, 8, 64, false}, {262144, 16, 64, true}}, 1, 1500, 12); }
TEST(small_first_level) { expect_same({{2048, 8, 64, false}, last}, 2, 1500, 12); }
TEST(as_many_groups_as_there_may_be) {
    expect_same({{4096, 4, 64, false}, last}, 3, 600, TC_STRIP_GROUPS);
}
TEST(direct_mapped) { expect_same({{1024, 1, 64, false}, last}, 4, 1500, 6); }
TEST(one_line) { expect_same({{64, 1, 64, false}, last}, 5, 1000, 4); }
TEST(one_set) { expect_same({{512, 8, 64, false}, last}, 6, 1500, 12); }
TEST(two_sets) { expect_same({{256, 2, 64, false}, last}, 7, 1500, 6); }
TEST(sets_no_power_of_two) { expect_same({{64 * 3 * 7, 3, 64, false}, last}, 8, 1500, 10); }
TEST(one_level) { expect_same({{1024, 4, 64, false}}, 9, 1500, 8); }
