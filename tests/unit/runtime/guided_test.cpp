// A guided run, on tiers that are only modelled: which range a block is in says its tier.
#include "annotated.h"
#include "check.h"
#include "report_of.h"
#include <cstdint>
#include <dlfcn.h>
#include <malloc.h>
#include <sys/resource.h>
#include <thread>
#include <unistd.h>

namespace {

#define TIERS "tier 0 nodes - capacity 0\ntier 1 nodes - capacity 0\ntier 2 nodes - capacity 0\n"
#define SITES "site 0 m!fast@f.c:1\nsite 2 m!slow@f.c:2\nsite 0 m!gone@f.c:3\n"
constexpr char guided[] = "heap guided\nreport %DIR%/report\n" TIERS "default-tier 1\n" SITES;

struct Sites : AnnotatedModule {
    Sites() : AnnotatedModule("m", {"m!fast@f.c:1", "m!slow@f.c:2", "m!new@f.c:9"}) {}
    tc_site *fast = (*this)[0], *slow = (*this)[1], *unplanned = (*this)[2];
};

// Ranges are 1 TiB apart, in the order of the tiers, without a gap.
uintptr_t start_of_ranges;

int tier_of(const void *p) {
    return static_cast<int>((reinterpret_cast<uintptr_t>(p) - start_of_ranges) >> 40);
}

// Tier 0's range begins with the segment of its first block.
void find_ranges(Sites &sites) {
    void *first = tc_malloc(100, sites.fast);
    start_of_ranges = reinterpret_cast<uintptr_t>(first) & ~((uintptr_t(32) << 20) - 1);
    free(first);
}

} // namespace

TEST_WITH_CONFIG(every_routine_is_placed, guided) {
    Sites sites;
    find_ranges(sites);
    for (size_t size : {0u, 1u, 100u, 3000u, 100000u, 5000000u, 50000000u}) {
        void *blocks[] = {tc_malloc(size, sites.slow),
                          tc_calloc(1, size, sites.slow),
                          tc_realloc(nullptr, size, sites.slow),
                          tc_reallocarray(nullptr, 1, size, sites.slow),
                          tc_aligned_alloc(64, size, sites.slow),
                          tc_aligned_alloc(size_t(64) << 20, size, sites.slow),
                          tc_memalign(4096, size, sites.slow),
                          tc_valloc(size, sites.slow),
                          tc_pvalloc(size, sites.slow),
                          tc_new(size, sites.slow),
                          tc_new_array(size, sites.slow),
                          tc_new_aligned(size, 256, sites.slow)};
        for (void *block : blocks) {
            expect_eq(tier_of(block), 2);
            free(block);
        }
        void *p = nullptr;
        expect_eq(tc_posix_memalign(&p, 128, size, sites.fast), 0);
        expect_eq(tier_of(p), 0);
        free(p);
    }
}

TEST_WITH_CONFIG(the_rest_goes_to_the_default_tier, guided) {
    Sites sites;
    find_ranges(sites);
    void *p = tc_malloc(100, sites.unplanned);
    expect_eq(tier_of(p), 1);
    free(p);
    p = malloc(100);
    expect_eq(tier_of(p), 1);
    free(p);
    p = strdup("text");
    expect_eq(tier_of(p), 1);
    free(p);
    std::thread([] {
        void *q = calloc(3, 100);
        expect_eq(tier_of(q), 1);
        free(q);
    }).join();
}

TEST_WITH_CONFIG(realloc_moves_a_block_to_its_sites_tier, guided) {
    Sites sites;
    find_ranges(sites);
    for (size_t size : {10u, 1000u, 100000u, 20000000u}) {
        char *p = static_cast<char *>(tc_malloc(size, sites.fast));
        strcpy(p, "content");
        p = static_cast<char *>(tc_realloc(p, size, sites.slow)); // would fit where it is
        expect_eq(tier_of(p), 2);
        expect_str(p, "content");
        void *same = p;
        p = static_cast<char *>(tc_realloc(p, size, sites.slow));
        expect_true(p == same);
        p = static_cast<char *>(realloc(p, size + 1));
        expect_eq(tier_of(p), 1);
        expect_str(p, "content");
        free(p);
    }
}

TEST_WITH_CONFIG(a_carried_site_takes_what_libraries_allocate, guided) {
    Sites sites;
    find_ranges(sites);
    for (int round = 0; round < 3; round++) {
        expect_true(tc_carry(sites.slow) == nullptr);
        char *slow = strdup("slow");
        tc_site *old = tc_carry(sites.fast); // nested
        char *fast = strdup("fast");
        expect_true(old == sites.slow);
        void *other = tc_malloc(10, sites.unplanned); // the program's own code in between
        tc_carry(old);
        char *again = strdup("slow again");
        tc_carry(nullptr);
        char *plain = strdup("plain");
        expect_eq(tier_of(slow), 2);
        expect_eq(tier_of(fast), 0);
        expect_eq(tier_of(other), 1);
        expect_eq(tier_of(again), 2);
        expect_eq(tier_of(plain), 1);
        for (void *p : {static_cast<void *>(slow), static_cast<void *>(fast), other,
                        static_cast<void *>(again), static_cast<void *>(plain)})
            free(p);
    }
}

TEST_WITH_CONFIG(sites_come_before_their_module_is_loaded, guided) {
    static tc_site early{};
    void *p = tc_malloc(100, &early);
    expect_eq(early.placement, 0u);
    Sites sites;
    find_ranges(sites);
    expect_eq(tier_of(p), 1);
    free(p);
}

TEST_WITH_CONFIG(a_module_of_another_version_is_left_unplaced, guided) {
    Sites sites;
    find_ranges(sites);
    static tc_site site{};
    tc_module module{
        TC_ABI_VERSION + 1, 1, &site, "", 0, nullptr, 0, nullptr, nullptr, 0, nullptr, nullptr};
    int pipe_ends[2], kept = dup(STDERR_FILENO);
    char said[200] = "";
    expect_eq(pipe(pipe_ends), 0);
    dup2(pipe_ends[1], STDERR_FILENO);
    tc_module_load(&module);
    dup2(kept, STDERR_FILENO);
    expect_ge(read(pipe_ends[0], said, sizeof said - 1), ssize_t(1));
    expect_true(strstr(said, "link it again\n"));
    void *p = tc_malloc(100, &site);
    expect_eq(tier_of(p), 1);
    free(p);
    tc_module_unload(&module);
}

TEST_WITH_CONFIG(an_executables_unannotated_code, "heap guided\n" TIERS "default-tier 1\n" SITES
                                                  "site 2 guided_test!unannotated\n") {
    Sites sites;
    find_ranges(sites);
    for (int round = 0; round < 3; round++) {
        void *own = malloc(100);
        char *library = strdup("text"); // libc's malloc call
        expect_eq(tier_of(own), 2);
        expect_eq(tier_of(library), 1);
        tc_carry(sites.fast);
        char *carried = strdup("text");
        tc_carry(nullptr);
        expect_eq(tier_of(carried), 0);
        free(own);
        free(library);
        free(carried);
    }
}

namespace {

bool has(const std::string &report, const char *text) {
    return report.find(text) != std::string::npos;
}

} // namespace

TEST(reports) {
    const std::string report = report_of(guided, "every_routine_is_placed");
    expect_eq(check::json_number(report, "planned"), 3ll);
    expect_eq(check::json_number(report, "reached"), 2ll);
    expect_true(has(report, "\"never_came\": [\"m!gone@f.c:3\"]"));
    expect_true(has(report, "\"unplanned\": []"));
    expect_true(has(report, "\"stepped_aside\": null"));
    expect_ge(check::json_number(report, "peak_resident_bytes", 1), 4096ll);
}

TEST(a_stale_plan_is_counted) {
    const std::string report = report_of(guided, "the_rest_goes_to_the_default_tier");
    expect_eq(check::json_number(report, "reached"), 1ll); // to find the range
    expect_true(has(report, "\"never_came\": [\"m!slow@f.c:2\",\n \"m!gone@f.c:3\"]"));
    expect_true(has(report, "\"unplanned\": [\"m!new@f.c:9\"]"));
}

TEST(a_broken_configuration_leaves_a_plain_malloc) {
    const std::string directory = check::scratch("inner");
    mkdir(directory.c_str(), 0777);
    expect_eq(check::run_self(directory, "heap gilded\n", {"--case", "runs_at_all"}), 0);
    expect_str(check::read_file(directory + "/stderr"),
               "thermocline: " + directory +
                   "/config: line 2: heap is plain, guided or sites; the program runs without "
                   "Thermocline\n");
}

TEST(runs_at_all) {
    Sites sites;
    for (int i = 0; i < 1000; i++)
        free(tc_malloc(100, sites.fast));
}

namespace {

constexpr long long limit = 10000000;
constexpr char limited[] = "heap guided\nreport %DIR%/report\ninterval-ms 1\n"
                           "tier 0 nodes - capacity 10000000\ntier 1 nodes - capacity 0\n"
                           "default-tier 1\nsite 0 m!fast@f.c:1\n";

} // namespace

TEST(fills_the_fast_tier) {
    Sites sites;
    std::vector<std::thread> threads;
    for (unsigned t = 0; t < 4; t++)
        threads.emplace_back([&, t] {
            unsigned seed = t;
            std::vector<void *> blocks(1000);
            for (int i = 0; i < 5000; i++) {
                seed = seed * 1664525 + 1013904223;
                void *&block = blocks[seed >> 8 & 511];
                free(block);
                const size_t size = seed >> 16 & 32767;
                block = tc_malloc(size, sites.fast);
                memset(block, 1, size);
            }
            for (void *block : blocks)
                free(block);
        });
    for (std::thread &thread : threads)
        thread.join();
}

TEST(a_capacity_is_used_and_never_passed) {
    const std::string report = report_of(limited, "fills_the_fast_tier");
    expect_eq(check::json_number(report, "capacity_bytes"), limit);
    expect_le(check::json_number(report, "peak_resident_bytes", 1), limit);
    expect_ge(check::json_number(report, "peak_resident_bytes", 1), limit * 3 / 4);
    expect_ge(check::json_number(report, "spilled_bytes"), limit);
}

TEST(little_address_space_still_makes_ranges) {
    const std::string directory = check::scratch("inner");
    mkdir(directory.c_str(), 0777);
    struct rlimit limit_now{size_t(8) << 30, size_t(8) << 30};
    expect_eq(setrlimit(RLIMIT_AS, &limit_now), 0);
    expect_eq(check::run_self(directory, limited, {"--case", "fills_the_fast_tier"}), 0);
    expect_str(check::read_file(directory + "/stderr"), "");
}
