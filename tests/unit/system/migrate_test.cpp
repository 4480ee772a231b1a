// Pages that migrate when they are touched: what a demand of a far page waits for, and that nothing
// is lost whatever the policy, on whole machines with an oracle of each line's place.
#include "migrating.h"
#include "simulator/placement/migrate.h"
#include <random>

using namespace thermocline;

namespace {

constexpr uint64_t region_pages = 512;

struct Outcome {
    MigrationStatistics migrations;
    nlohmann::json policy;
    Ps time = 0;
};

nlohmann::json settings(const std::string &policy) {
    return {{"policy", policy},
            {"fault_ps", 400'000u},
            {"operation_ps", 200'000u},
            {"page_ps", 1'000u},
            {"shootdown_ps", 100'000u},
            {"far_ps", 50'000u},
            {"sample_ps", 3'000'000'000u},
            {"execution_ps", 9'000'000'000u}};
}

using Threads = std::vector<std::vector<ListedReference>>;

Outcome outcome(const nlohmann::json &config, uint64_t near_pages, Threads threads,
                bool check = true) {
    TestMachine machine;
    machine.node_bytes = {near_pages * page_bytes, 8192 * page_bytes};
    Outcome made;
    asked.clear();
    run_with<Recording>(machine, make_policy("migrate", {config, {}, 2, 0}),
                        {FixedMemory(60'000, 500), FixedMemory(180'000, 500)}, std::move(threads),
                        [&](auto &system, auto &, const Placement &placement) {
                            if (check) {
                                expect_lt(0u, check_data(placement, true));
                                expect_le(placement.statistics().most[0], near_pages);
                            }
                            made = {system.migrations(), placement.policy_statistics(),
                                    system.time()};
                        });
    return made;
}

Threads anything(uint64_t seed, uint64_t pages, size_t count) {
    std::mt19937_64 random(seed);
    Threads threads(2);
    uint64_t at = 0;
    for (size_t i = 0; i < count; i++) {
        if (random() % 4 == 0)
            at = random() % 3 ? random() % pages : random() % 32;
        threads[i % 2].push_back(touch(at, random() % 64, random() % 2));
        at = (at + random() % 2) % pages;
    }
    return threads;
}

uint64_t line(size_t number) { return (number * 7 + number / 64) % 64; }

Threads one(const std::vector<uint64_t> &pages) {
    Threads threads(1);
    for (uint64_t page : pages) // a different line each time, so that caches don't have it
        threads[0].push_back(touch(page, line(threads[0].size()), false, 2000));
    return threads;
}

uint64_t chunks(const Outcome &made, const char *granularity, const char *way) {
    return made.policy["chunks"][granularity][way];
}

std::vector<uint64_t> range(uint64_t first, uint64_t end) {
    std::vector<uint64_t> pages;
    for (uint64_t page = first; page < end; page++)
        pages.push_back(page);
    return pages;
}

std::vector<uint64_t> operator+(std::vector<uint64_t> a, const std::vector<uint64_t> &b) {
    a.insert(a.end(), b.begin(), b.end());
    return a;
}

} // namespace

TEST(every_access_is_served_near_whatever_the_policy) {
    for (const char *policy : {"4K", "64K", "2M", "history", "sampling", "adaptive"}) {
        const Outcome made = outcome(settings(policy), 520, anything(7, 1100, 4'000));
        expect_lt(20u, made.migrations.operations);
        expect_lt(20u, uint64_t(made.policy["faults"]));
        expect_eq(made.migrations.refused, 0u);
    }
}

TEST(what_fits_never_moves) {
    const Outcome made = outcome(settings("2M"), 1200, anything(3, 1100, 3'000));
    expect_eq(made.migrations.operations, 0u);
    expect_eq(uint64_t(made.policy["faults"]), 0u);
}

TEST(the_longest_unused_page_goes) {
    // 0 .. 511 fill near memory, 0 is used again, 512 is new: 1 has to go, and comes back for 2.
    const Outcome made =
        outcome(settings("4K"), 512, one(range(0, 512) + std::vector<uint64_t>{0, 512, 0, 1}));
    expect_eq(uint64_t(made.policy["first_touches"]), 1u);
    expect_eq(uint64_t(made.policy["faults"]), 1u);
    expect_eq(chunks(made, "4K", "in"), 1u);
    expect_eq(chunks(made, "4K", "out"), 2u);
    const Outcome other =
        outcome(settings("4K"), 512, one(range(0, 512) + std::vector<uint64_t>{0, 512, 0, 2}));
    expect_eq(uint64_t(other.policy["faults"]), 0u);
}

TEST(a_chunk_comes_with_the_page_and_is_one_shootdown) {
    // Three regions, near memory for two: touching the first again brings all of it.
    const std::vector<uint64_t> pages = range(0, 3 * region_pages) + range(0, region_pages);
    for (const auto &[policy, faults] : {std::pair{"4K", 512u}, {"64K", 32u}, {"2M", 1u}}) {
        const Outcome made = outcome(settings(policy), 2 * region_pages, one(pages));
        expect_eq(uint64_t(made.policy["faults"]), faults);
        expect_eq(chunks(made, policy, "in"), faults);
        expect_eq(uint64_t(made.policy["chunks"][policy]["in_pages"]), region_pages);
        expect_eq(uint64_t(made.policy["first_touches"]), policy == std::string("4K")    ? 512u
                                                          : policy == std::string("64K") ? 32u
                                                                                         : 1u);
        expect_eq(uint64_t(made.policy["shootdowns"]), 3 * faults);
        expect_eq(made.migrations.paused, 3 * faults * 100'000u);
    }
}

TEST(a_fault_takes_the_time_that_is_charged) {
    // One page comes back: what the kernel does, and two copies of 64 lines one after the other.
    const std::vector<uint64_t> pages = range(0, 513) + range(1, 2);
    nlohmann::json free = settings("4K"), dear = free;
    dear["fault_ps"] = 2'400'000u;
    dear["operation_ps"] = 1'200'000u;
    dear["page_ps"] = 101'000u;
    dear["far_ps"] = 250'000u;
    free["shootdown_ps"] = dear["shootdown_ps"] = 0u;
    std::vector<uint64_t> again = range(0, 513) + std::vector<uint64_t>{0};
    const Ps longer = outcome(dear, 512, one(again)).time - outcome(free, 512, one(again)).time;
    // The first touch of 512: fault, and 0 out.  The fault on 0: in, with 1 out.
    const Ps expected = 2 * 2'000'000 + 3 * 1'000'000 + 3 * 100'000 + 200'000;
    expect_le(longer, expected);
    expect_le(expected - 20'000, longer); // all but what a reference can hide
}

TEST(a_thread_serves_its_faults_one_after_the_other) {
    std::vector<uint64_t> fill = range(0, 1024);
    Threads both(2), single(1);
    for (uint64_t page : fill)
        both[0].push_back(touch(page, 0, false)), single[0].push_back(touch(page, 0, false));
    for (uint64_t i = 0; i < 64; i++) { // all far, and they need nothing of each other
        single[0].push_back(touch(2 * i, 1, false, 0));
        both[0].push_back(touch(2 * i, 1, false, 0));
    }
    const nlohmann::json config = settings("4K");
    const Outcome made = outcome(config, 512, single);
    expect_eq(uint64_t(made.policy["faults"]), 64u);
    // 64 faults, each with an operation in and one out.
    expect_le(64u * (400'000u + 2 * 201'000u), made.migrations.serving);
    expect_le(made.migrations.serving, made.time);
}

TEST(warm_moves_cost_nothing) {
    const std::vector<uint64_t> pages = range(0, 1024) + range(0, 1024);
    nlohmann::json warm = settings("4K");
    warm["warm"] = 1u << 20;
    const Outcome made = outcome(warm, 512, one(pages), false);
    expect_eq(made.migrations.operations, 0u);
    expect_eq(made.migrations.serving, 0u);
    expect_lt(900u, uint64_t(made.policy["faults"]));
    expect_lt(made.time, outcome(settings("4K"), 512, one(pages), false).time / 2);
}

TEST(history_goes_to_regions_where_all_is_used) {
    // Sweeps over 40 regions with near memory for 20.
    std::vector<uint64_t> pages;
    for (int sweep = 0; sweep < 2; sweep++)
        pages = pages + range(0, 40 * region_pages / 2);
    const Outcome made = outcome(settings("history"), 10 * region_pages, one(pages), false);
    expect_lt(4u, chunks(made, "2M", "in"));
    expect_lt(chunks(made, "4K", "in"), 9 * region_pages);
}

TEST(what_migrate_can_not_do_is_said) {
    for (const nlohmann::json &bad :
         std::vector<nlohmann::json>{{{"policy", "8K"}},
                                     {{"policy", "4K"}, {"fault_ps", -1}},
                                     {{"policy", "history"}, {"used", 1.5}},
                                     {{"policy", "sampling"}, {"ratio", 0}}}) {
        std::string said;
        try {
            make_policy("migrate", {bad, {}, 2, 0});
        } catch (const ConfigError &error) {
            said = error.what();
        }
        expect_true(!said.empty());
    }
    std::string said;
    try {
        outcome(settings("4K"), 511, one(range(0, 4)), false);
    } catch (const ConfigError &error) {
        said = error.what();
    }
    expect_true(said.find("holds no chunk of 2 MiB") != std::string::npos);
}
