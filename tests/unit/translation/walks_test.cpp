// When translations are there, on a machine whose memory takes 100 ns.
#include "../system/machine.h"
#include "check.h"

using namespace thermocline;

namespace {

constexpr Ps line = 12'000 + 100'000; // from memory, past the caches
constexpr uint64_t page = 4096, far = uint64_t(1) << 30;

TestMachine machine(const char *name = "baseline", bool nested = false) {
    TestMachine made;
    TranslationConfig &config = made.config.translation;
    config.on = true;
    config.nested = nested;
    config.first = {BufferConfig{4, 4}, {4, 4}, {4, 4}};
    config.second = {64, 4};
    config.second_ps = 7'000;
    config.walk_cache_ps = 2'000;
    config.walk_caches = {BufferConfig{}, {8, 4}, {4, 4}, {2, 2}};
    config.nested_tlb = {16, 4};
    config.nested_tlb_ps = 3'000;
    config.name = name;
    config.tables = {0, TestMachine::tier_bytes, 16 << 20};
    config.buffer = {0, TestMachine::tier_bytes + (16 << 20), 1 << 20};
    return made;
}
// With as much more time as translation takes.
Ps added(const TestMachine &with, const std::vector<ListedReference> &references) {
    TestMachine without = with;
    without.config.translation.on = false;
    return time_of(with, references) - time_of(without, references);
}

} // namespace

TEST(a_cold_walk_is_four_lines_one_after_the_other) {
    expect_eq(added(machine(), {load(0)}), 7'000 + 2'000 + 4 * line);
}

TEST(the_next_page_is_one_reference_that_hits) {
    // The page-walk cache leads to its entry, which lies in the line of the first page's.
    expect_eq(added(machine(), {load(0), load(page, 0, {1})}),
              7'000 + 2'000 + 4 * line + 7'000 + 2'000 + 12'000);
}

TEST(the_second_level_takes_its_time) {
    // Pages that don't fit the first level, in a chain; all lines are in the data caches.
    std::vector<ListedReference> chain;
    for (int round = 0; round < 3; round++)
        for (uint64_t each = 0; each < 8; each++)
            chain.push_back(
                load(each * page + 64 * each, 0,
                     chain.empty() ? std::vector<uint32_t>{} : std::vector<uint32_t>{1}));
    std::vector<ListedReference> shorter(chain.begin(), chain.begin() + 16);
    expect_eq(added(machine(), chain) - added(machine(), shorter), 8 * 7'000);
}

TEST(who_comes_while_a_page_is_walked_waits_for_that) {
    run(machine(), {{load(0), load(64), load(128)}}, [](auto &system, auto &, auto &) {
        const MissStatistics &said = system.walks()->statistics();
        expect_eq(said.waited, uint64_t(2));
        expect_eq(system.walks()->translation().walker(0).statistics().walks, uint64_t(1));
    });
    expect_eq(added(machine(), {load(0), load(64), load(128)}), 7'000 + 2'000 + 4 * line);
}

TEST(walkers_are_few) {
    TestMachine one = machine(), two = machine();
    two.config.translation.walkers = 2;
    one.config.translation.walk_caches = two.config.translation.walk_caches = {};
    const std::vector<ListedReference> apart{load(0), load(uint64_t(1) << 42)};
    // Both walks begin at the root, but in different lines.
    const Ps walk = 2'000 + 4 * line, dispatch = 250; // so much later the second one begins
    expect_eq(added(one, apart), 7'000 + 2 * walk - dispatch);
    expect_eq(added(two, apart), 7'000 + walk);
    run(one, {apart}, [&](auto &system, auto &, auto &) {
        expect_eq(system.walks()->statistics().queued, walk - dispatch);
    });
}

TEST(a_nested_walk_is_counted_whole) {
    TestMachine nested = machine("baseline", true);
    nested.config.translation.walk_caches = {};
    nested.config.translation.nested_tlb = {};
    run(nested, {{load(far)}}, [](auto &system, auto &memories, auto &) {
        const MissStatistics &said = system.walks()->statistics();
        expect_eq(system.walks()->translation().walker(0).statistics().references, uint64_t(24));
        expect_eq(said.found[1] + said.found[2], uint64_t(24)); // second level, or memory
        expect_eq(memories[0].seen.size(), size_t(said.found[2] + 1));
    });
}

TEST(pom_serves_another_core) {
    // The second thread comes to the page when the first has long walked.
    std::vector<ListedReference> early{load(far)}, late;
    for (uint32_t i = 0; i < 40; i++)
        late.push_back(load(far + 4 * page + 64 * i, 100,
                            late.empty() ? std::vector<uint32_t>{} : std::vector<uint32_t>{1}));
    late.push_back(load(far + 8, 0, {1}));
    for (const char *name : {"baseline", "pom", "tsb", "shared-l2"})
        run(machine(name), {early, late}, [&](auto &system, auto &, auto &) {
            const bool walks = std::string(name) == "baseline";
            expect_eq(system.walks()->translation().walker(1).statistics().walks,
                      uint64_t(walks ? 2 : 1));
        });
}

TEST(a_trap_costs) {
    TestMachine cheap = machine("tsb"), dear = machine("tsb");
    cheap.config.translation.options["trap"] = 0.0;
    dear.config.translation.options["trap"] = 300.0;
    cheap.config.translation.hertz = dear.config.translation.hertz = 1e9;
    expect_eq(added(dear, {load(0)}) - added(cheap, {load(0)}), Ps(300'000));
}

TEST(memory_that_is_given_back_is_shot_down) {
    run(machine("pom"), {{load(far)}}, [](auto &system, auto &, auto &placement) {
        const Translation &translation = system.walks()->translation();
        const uint64_t before = translation.mapped(0, far);
        expect_true(before != 0);
        placement.give_back(far, page);
        expect_eq(translation.shootdowns(), uint64_t(1));
        expect_true(translation.mapped(0, far) != before);
    });
}

TEST(runs_repeat_exactly_and_end) {
    std::vector<std::vector<ListedReference>> threads(3);
    uint64_t x = 1;
    for (auto &thread : threads)
        for (int i = 0; i < 3000; i++) {
            x = x * 6364136223846793005 + 1442695040888963407;
            const uint64_t address = (x >> 33) % (32 << 20);
            thread.push_back(x >> 62 ? load(address, 3, {uint32_t(x >> 20 & 7) + 1})
                                     : store(address, 1));
        }
    for (const bool nested : {false, true})
        for (const char *name : {"baseline", "pom", "tsb", "shared-l2"}) {
            Ps times[2] = {};
            for (Ps &time : times)
                run(machine(name, nested), threads, [&](auto &system, auto &, auto &) {
                    time = system.time();
                    expect_true(system.walks()->translation().walker(0).statistics().walks > 0);
                });
            expect_eq(times[0], times[1]);
        }
}

TEST(addresses_that_are_kept_are_refused) {
    bool refused = false;
    try {
        time_of(machine(), {load(Kept::first)});
    } catch (const ConfigError &) {
        refused = true;
    }
    expect_true(refused);
    TestMachine tight = machine();
    tight.config.translation.tables.bytes = 2 * page;
    refused = false;
    try {
        time_of(tight, {load(0)});
    } catch (const ConfigError &) {
        refused = true;
    }
    expect_true(refused);
}
