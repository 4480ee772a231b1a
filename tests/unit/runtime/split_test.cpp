// Sites that the plan splits over tiers, which are only modelled here: a class has a range of its
// own, behind those of the tiers, and the report says what its chunks came to.
#include "annotated.h"
#include "check.h"
#include "report_of.h"
#include <cstdint>
#include <sys/resource.h>

namespace {

constexpr long long mib = 1 << 20;
#define PLAN                                                                                       \
    "default-tier 1\nclass 2 shares 1,1\nclass 3 shares 1,3\nsite 0 m!fast@f.c:1\n"                \
    "site 2 m!half@f.c:2\nsite 3 m!quarter@f.c:3\nsite 2 m!other@f.c:4\n"
#define HEAD "heap guided\nreport %DIR%/report\ninterval-ms 1\n"
constexpr char unlimited[] = HEAD "tier 0 nodes - capacity 0\ntier 1 nodes - capacity 0\n" PLAN;
constexpr char limited[] =
    HEAD "tier 0 nodes - capacity 16777216\ntier 1 nodes - capacity 0\n" PLAN;

struct Sites : AnnotatedModule {
    Sites()
        : AnnotatedModule("m",
                          {"m!fast@f.c:1", "m!half@f.c:2", "m!quarter@f.c:3", "m!other@f.c:4"}) {
        void *first = tc_malloc(100, fast);
        ranges = reinterpret_cast<uintptr_t>(first) & ~uintptr_t(32 * mib - 1);
        free(first);
    }
    int class_of(const void *p) const {
        return static_cast<int>((reinterpret_cast<uintptr_t>(p) - ranges) >> 40);
    }
    tc_site *fast = (*this)[0], *half = (*this)[1], *quarter = (*this)[2], *other = (*this)[3];
    uintptr_t ranges; // 1 TiB apart
};

long long resident(const std::string &report, int tier) {
    return check::json_number(report, "resident_bytes", tier);
}

void expect_near(long long value, long long expected, long long off) {
    expect_le(expected - off, value);
    expect_le(value, expected + off);
}

} // namespace

TEST_WITH_CONFIG(a_class_is_in_a_range_of_its_own, unlimited) {
    Sites sites;
    for (size_t size : {0u, 100u, 3000u, 100000u, 5000000u, 50000000u}) {
        void *blocks[] = {tc_malloc(size, sites.half),
                          tc_calloc(1, size, sites.half),
                          tc_realloc(nullptr, size, sites.half),
                          tc_aligned_alloc(64 * mib, size, sites.half),
                          tc_new(size, sites.half),
                          tc_malloc(size, sites.other)};
        void *quarter = tc_malloc(size, sites.quarter), *fast = tc_malloc(size, sites.fast);
        for (void *block : blocks) {
            expect_eq(sites.class_of(block), 2);
            free(block);
        }
        expect_eq(sites.class_of(quarter), 3);
        expect_eq(sites.class_of(fast), 0);
        free(quarter);
        free(fast);
    }
}

TEST_WITH_CONFIG(realloc_at_a_site_of_another_class_moves, unlimited) {
    Sites sites;
    char *block = static_cast<char *>(tc_malloc(1000, sites.half));
    memset(block, 7, 1000);
    const std::pair<tc_site *, int> steps[] = {
        {sites.quarter, 3}, {sites.fast, 0}, {sites.other, 2}};
    for (const auto &[site, number] : steps) {
        block = static_cast<char *>(tc_realloc(block, 1000, site));
        expect_eq(sites.class_of(block), number);
        expect_eq(int(block[0]) + block[999], 14);
    }
    char *same = static_cast<char *>(tc_realloc(block, 1000, sites.half)); // of the same class
    expect_true(same == block);
    free(same);
}

TEST(fills_two_classes) {
    Sites sites;
    memset(tc_malloc(64 * mib, sites.half), 1, 64 * mib);
    memset(tc_malloc(64 * mib, sites.quarter), 1, 64 * mib);
}

TEST(a_large_block_has_its_shares) {
    const std::string report = report_of(unlimited, "fills_two_classes");
    expect_near(resident(report, 0), 48 * mib, 2 * mib);
    expect_near(resident(report, 1), 80 * mib, 2 * mib);
    expect_eq(check::json_number(report, "spilled_bytes", 0), 0ll);
    expect_eq(check::json_number(report, "spilled_bytes", 1), 0ll);
}

TEST(only_what_was_wanted_in_a_full_tier_is_spilled) {
    const std::string report = report_of(limited, "fills_two_classes");
    expect_near(resident(report, 0), 16 * mib, mib / 2); // what is granted is not all touched
    expect_le(resident(report, 0), 16 * mib);
    expect_near(resident(report, 1), 112 * mib, 2 * mib);
    expect_near(check::json_number(report, "spilled_bytes", 0), 32 * mib, 2 * mib);
    expect_eq(check::json_number(report, "spilled_bytes", 1), 0ll);
}

// Threads that come and go leave small blocks in many segments of 32 MiB.
TEST(fills_with_small_blocks) {
    Sites sites;
    unsigned seed = 1;
    for (long long bytes = 0; bytes < 40 * mib;) {
        seed = seed * 1664525 + 1013904223;
        const unsigned size = 1 + (seed >> 8) % 2000;
        memset(tc_malloc(size, sites.half), 1, size);
        bytes += size;
    }
}

TEST(small_blocks_have_their_shares_together) {
    const std::string report = report_of(unlimited, "fills_with_small_blocks");
    const long long fast = resident(report, 0), slow = resident(report, 1);
    expect_near(fast, slow, 2 * mib);
}

TEST(a_full_range_goes_on_in_the_tiers) {
    const std::string directory = check::scratch("inner");
    mkdir(directory.c_str(), 0777);
    struct rlimit little{size_t(8) << 30, size_t(8) << 30}; // ranges of 512 MiB
    expect_eq(setrlimit(RLIMIT_AS, &little), 0);
    expect_eq(check::run_self(directory, limited, {"--case", "fills_a_range"}), 0);
    expect_str(check::read_file(directory + "/stderr"), "");
}

TEST(fills_a_range) {
    Sites sites;
    for (int i = 0; i < 30; i++) {
        char *block = static_cast<char *>(tc_malloc(50 * mib, sites.half));
        expect_true(block != nullptr);
        for (long long at = 0; at < 50 * mib; at += mib)
            block[at] = 1;
    }
}
