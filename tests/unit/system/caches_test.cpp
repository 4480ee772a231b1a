// Traffic: exactly what the trace profile's cache model says, whatever the timing does.
#include "check.h"
#include "machine.h"
#include "trace/reference.h"
#include <random>

using namespace thermocline;

namespace {

// Streams, strides, hot spots and random places, of several owners.
std::vector<ListedReference> mixed(uint64_t seed, size_t count) {
    std::mt19937_64 random(seed);
    std::vector<ListedReference> list;
    uint64_t stream = 0, stride = 0;
    for (size_t i = 0; i < count; i++) {
        uint64_t address = 0;
        switch (random() % 4) {
        case 0:
            address = stream += 8;
            break;
        case 1:
            address = (1 << 20) + (stride += 192) % (1 << 19);
            break;
        case 2:
            address = (2 << 20) + random() % 2048;
            break;
        case 3:
            address = (3 << 20) + random() % (1 << 19);
            break;
        }
        address &= ~uint64_t(7);
        const uint32_t owner = uint32_t(address >> 20), gap = uint32_t(random() % 6);
        std::vector<uint32_t> producers;
        if (i > 16 && random() % 3 == 0)
            producers = {uint32_t(1 + random() % 16)};
        list.push_back(random() % 3 ? load(address, gap, producers, owner)
                                    : store(address, gap, producers, owner));
    }
    return list;
}

void compare(const TestMachine &machine, const std::vector<ListedReference> &list) {
    std::vector<CacheGeometry> levels;
    for (const LevelConfig &each : machine.config.levels)
        levels.push_back(each.geometry);
    ReferenceHierarchy model(levels, [](uint64_t line) { return uint32_t(line >> 14); });
    for (const ListedReference &each : list)
        model.refer(each.reference.address / 64, each.reference.store);
    run(machine, {list}, [&](auto &system, auto &memories, auto &) {
        uint64_t requests = 0;
        for (const auto &[owner, traffic] : model.traffic) {
            const TierUse use =
                owner < system.router().use(0).size() ? system.router().use(0)[owner] : TierUse{};
            expect_eq(use.read[unsigned(Purpose::demand)], traffic.read_bytes);
            expect_eq(use.write[unsigned(Purpose::writeback)], traffic.write_bytes);
            requests += (traffic.read_bytes + traffic.write_bytes) / 64;
        }
        expect_lt(1000u, requests);
        expect_eq(memories[0].seen.size(), requests); // and they reached the device
    });
}

} // namespace

TEST(traffic_equals_the_profiles_model) {
    for (uint64_t seed = 0; seed < 12; seed++) {
        TestMachine machine;
        machine.config.levels = {{{4096, 4, 64, false}, 1}};
        if (seed % 3 > 0)
            machine.config.levels.push_back({{24576, 6, 64, false}, 1});
        if (seed % 3 > 1)
            machine.config.levels.push_back({{90112, 11, 64, true}, 1}); // 128 sets of 11 ways
        if (seed % 4 == 3)
            machine.config.levels.back().geometry = {3 * 64 * 5 * 64, 5, 64, false}; // 192 sets
        machine.config.latency.resize(machine.config.levels.size(), 30'000);
        machine.config.core.outstanding = uint32_t(1 + seed % 7);
        machine.config.core.window = uint32_t(8 + 40 * (seed % 5));
        machine.config.core.store_buffer = uint32_t(1 + seed % 9);
        machine.memory_gap = seed % 2 ? 20'000 : 0;
        machine.queue = seed % 2 ? 4 : 1u << 30;
        compare(machine, mixed(seed, 30'000));
    }
}

TEST(a_first_level_of_one_set_and_one_way) {
    TestMachine machine;
    machine.config.levels = {{{64, 1, 64, false}, 1}, {{128, 2, 64, false}, 1}};
    compare(machine, mixed(99, 10'000));
}

TEST(prefetching_a_stream_hides_latency_and_reads_nothing_twice) {
    TestMachine machine;
    machine.config.core.outstanding = 2;
    std::vector<ListedReference> list;
    for (size_t i = 0; i < 64'000; i++)
        list.push_back(load(8 * i, 3));
    const Ps without = time_of(machine, list);
    machine.config.prefetcher.on = true;
    run(machine, {list}, [&](auto &system, auto &memories, auto &) {
        expect_lt(system.time() * 2, without);
        expect_eq(memories[0].seen.size(), 64'000u / 8);
        expect_lt(6'000u, system.caches().prefetches);
        const TierUse &use = system.router().use(0)[0];
        expect_eq(use.read[unsigned(Purpose::prefetch)], system.caches().prefetches * 64);
    });
    // Downwards too.
    std::reverse(list.begin(), list.end());
    expect_lt(time_of(machine, list) * 2, without);
}

TEST(without_a_second_level_there_is_nothing_to_prefetch_into) {
    TestMachine machine;
    machine.config.levels.resize(1);
    machine.config.latency.resize(1);
    std::vector<ListedReference> list;
    for (size_t i = 0; i < 8'000; i++)
        list.push_back(load(8 * i, 3));
    const Ps without = time_of(machine, list);
    machine.config.prefetcher.on = true;
    expect_eq(time_of(machine, list), without);
}

TEST(prefetching_random_references_fetches_next_to_nothing) {
    TestMachine machine;
    machine.config.prefetcher.on = true;
    std::vector<ListedReference> list;
    std::mt19937_64 random(3);
    for (size_t i = 0; i < 50'000; i++)
        list.push_back(load(random() % (32 << 20)));
    run(machine, {list},
        [&](auto &system, auto &, auto &) { expect_lt(system.caches().prefetches, 500u); });
}

TEST(a_run_repeats_exactly) {
    TestMachine machine;
    machine.config.cores = 4;
    machine.config.levels[1].shared_by = 2;
    machine.config.prefetcher.on = true;
    machine.memory_gap = 3'000;
    machine.queue = 8;
    auto once = [&] {
        std::vector<uint64_t> numbers;
        run(machine, {mixed(1, 8000), mixed(2, 8000), mixed(3, 8000), mixed(4, 8000)},
            [&](auto &system, auto &memories, auto &) {
                numbers = {system.time(), memories[0].seen.size(), system.caches().prefetches};
                for (auto &core : system.cores())
                    numbers.push_back(core.statistics().finish);
                for (const Request &each : memories[0].seen)
                    numbers.push_back(each.arrival ^ each.address << 20);
            });
        return numbers;
    };
    const auto first = once();
    expect_true(first == once());
    expect_lt(20'000u, first.size());
}

TEST(remote_memory_costs_the_links_latency_and_bandwidth) {
    TestMachine machine;
    machine.config.sockets = 2;
    machine.config.cores = 2;
    machine.node_bytes = {TestMachine::tier_bytes, TestMachine::tier_bytes};
    machine.config.link = {70'000, 0};
    std::vector<ListedReference> chase;
    for (size_t i = 0; i < 100; i++)
        chase.push_back(load(64 * i, 0, i ? std::vector<uint32_t>{1} : std::vector<uint32_t>{}));
    const Ps near = 250 + 100 * 112'000;
    expect_eq(time_of(machine, chase), near);
    // The other socket's thread touches the pages first; then this one reads them.
    std::vector<ListedReference> toucher, reader;
    for (size_t page = 0; page < 2; page++)
        toucher.push_back(load(4096 * page));
    reader = chase;
    for (ListedReference &each : reader)
        each.reference.address += 64;
    reader.front().reference.gap = 4'000; // a microsecond later
    run(machine, {reader, toucher}, [&](auto &system, auto &, auto &) {
        const Ps expected = 250 + 1'000'000 + 99 * (112'000 + 70'000) + (112'000 + 70'000);
        const Ps time = ceil_ps(system.cores()[0].statistics().finish);
        // The last lines lie in a third page: no remote one.
        expect_le(time, expected);
        expect_le(expected - 40 * 70'000, time);
    });
}
