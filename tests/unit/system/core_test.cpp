// The core's timing where a person can say what it must be.
#include "check.h"
#include "machine.h"

using namespace thermocline;

namespace {

constexpr Ps cycle = 1000, first_level = 4000, last_level = 12000, memory = 100'000;
constexpr Ps miss = last_level + memory; // of a load that nothing hinders

std::vector<ListedReference> repeated(size_t count, ListedReference each) {
    return std::vector<ListedReference>(count, each);
}

// One line after the other, each `gap` other instructions after the last.
std::vector<ListedReference> lines(size_t count, uint32_t gap, std::vector<uint32_t> producers = {},
                                   uint64_t stride = 64) {
    std::vector<ListedReference> list;
    for (size_t i = 0; i < count; i++)
        list.push_back(load(i * stride, gap, i == 0 ? std::vector<uint32_t>{} : producers));
    return list;
}

} // namespace

TEST(hits_run_at_the_width) {
    TestMachine machine;
    const size_t count = 100'000;
    // All but the first hit; four a cycle.
    const Ps time = time_of(machine, repeated(count, load(0)));
    expect_le(count / 4 * cycle, time);
    expect_le(time, count / 4 * cycle + miss + first_level);
    // Three other instructions each: one a cycle.
    const Ps slower = time_of(machine, repeated(count, load(0, 3)));
    expect_le(count * cycle, slower);
    expect_le(slower, count * cycle + miss + first_level);
}

TEST(a_width_that_divides_no_picosecond_adds_no_error_up) {
    TestMachine machine;
    machine.config.core.hertz = 2.1e9;
    machine.config.core.width = 3;
    const size_t count = 1'000'000;
    const double ideal = double(count) / 3 / 2.1e9 * 1e12;
    const Ps time = time_of(machine, repeated(count, load(0)));
    expect_le(double(time - miss - first_level), ideal * 1.00002);
    expect_ge(double(time), ideal * 0.99998);
}

TEST(a_pointer_chase_takes_the_latency_each) {
    TestMachine machine;
    const size_t count = 1000;
    // Each load's address comes from the last; the first dispatches after a quarter of a cycle.
    expect_eq(time_of(machine, lines(count, 0, {1})), cycle / 4 + count * miss);
    // In the first level: 4 cycles each once the line is there.
    std::vector<ListedReference> chase;
    for (size_t i = 0; i < count; i++)
        chase.push_back(
            load(8 * (i % 8), 0, i == 0 ? std::vector<uint32_t>{} : std::vector<uint32_t>{1}));
    expect_eq(time_of(machine, chase), cycle / 4 + miss + (count - 1) * first_level);
}

TEST(a_second_level_chase_takes_its_latency) {
    TestMachine machine;
    // 128 lines: more than the first level's 64, all in the second level after one round.
    const size_t rounds = 10, ring = 128;
    std::vector<ListedReference> chase;
    for (size_t i = 0; i < rounds * ring; i++)
        chase.push_back(
            load(64 * (i % ring), 0, i == 0 ? std::vector<uint32_t>{} : std::vector<uint32_t>{1}));
    expect_eq(time_of(machine, chase), cycle / 4 + ring * miss + (rounds - 1) * ring * last_level);
}

TEST(independent_misses_overlap_up_to_the_registers) {
    TestMachine machine;
    machine.config.core.window = 1024;
    for (uint32_t registers : {1u, 2u, 5u, 16u}) {
        machine.config.core.outstanding = registers;
        const size_t count = 1600;
        const Ps time = time_of(machine, lines(count, 0));
        const Ps ideal = (count + registers - 1) / registers * miss;
        expect_le(ideal, time);
        expect_le(time, ideal + registers * cycle / 4 + cycle);
    }
}

TEST(the_window_limits_how_many_overlap) {
    TestMachine machine;
    machine.config.core.outstanding = 1000;
    machine.config.core.window = 40;
    // Ten instructions from load to load: a window of 40 holds four loads.
    const size_t count = 400;
    const Ps time = time_of(machine, lines(count, 9));
    const Ps ideal = count / 4 * miss;
    expect_le(ideal, time);
    expect_le(time, ideal + count / 4 * 10 * cycle + cycle);
    // Twice the window: twice as many.
    machine.config.core.window = 80;
    const Ps wider = time_of(machine, lines(count, 9));
    expect_le(wider, time * 55 / 100);
}

TEST(loads_of_one_line_are_one_request) {
    TestMachine machine;
    std::vector<ListedReference> list;
    for (size_t i = 0; i < 800; i++)
        list.push_back(load(8 * i));
    run(machine, {list}, [](auto &system, auto &memories, auto &) {
        expect_eq(memories[0].seen.size(), 100u);
        // The eight loads of a line wait for it together: 16 lines overlap, 128 loads fit.
        expect_le(system.time(), 100 / 16 * miss + 2 * miss);
    });
}

TEST(a_load_waits_for_all_that_make_its_address) {
    TestMachine machine;
    // Two misses, apart; the third load needs both, the fourth only the first.
    std::vector<ListedReference> list = {load(0), load(4096, 99), load(8192, 0, {1, 2}),
                                         load(12288, 0, {3})};
    // The first at 0.25 cycles, the second 25 later, the third when that is there; the fourth is
    // long done then, and retires behind it.
    expect_eq(time_of(machine, list), cycle / 4 + 25 * cycle + 2 * miss + cycle / 4);
}

TEST(a_producer_that_left_the_window_long_ago_is_never_taken_for_a_later_reference) {
    TestMachine machine;
    // The window's ring has 512 places: the load at 480 also needs the first one, whose place the
    // one at 512 takes while a miss is waited for; and that one needs the load at 480.
    std::vector<ListedReference> list = repeated(600, load(0));
    list[479] = load(1 << 20);
    list[480] = load(8, 0, {480, 1});
    list[512] = load(8, 0, {32});
    const Ps time = time_of(machine, list);
    expect_le(2 * miss, time);
    expect_le(time, 2 * miss + list.size() / 4 * cycle);
}

TEST(what_is_ready_first_asks_for_a_line_first) {
    TestMachine machine;
    // A dependent load comes first in the program, an independent one of the same line asks.
    std::vector<ListedReference> list = {load(0), load(4096, 0, {1}), load(4096 + 8)};
    // It asks at 0.75; the dependent one is ready at 0.25 + miss, and has the line then.
    expect_eq(time_of(machine, list), cycle / 4 + miss + first_level + cycle / 4);
}

TEST(stores_retire_at_once_until_their_buffer_is_full) {
    TestMachine machine;
    machine.config.core.outstanding = 1;
    machine.config.core.store_buffer = 8;
    std::vector<ListedReference> list;
    for (size_t i = 0; i < 8; i++)
        list.push_back(store(64 * i));
    expect_eq(time_of(machine, list), 8 * cycle / 4);
    // The ninth waits until the first line is there, the tenth for the second.
    list.push_back(store(64 * 8));
    expect_eq(time_of(machine, list), cycle / 4 + miss);
    list.push_back(store(64 * 9));
    expect_eq(time_of(machine, list), cycle / 4 + 2 * miss);
    // Stores that hit need no entry: all behind the miss retire at the width.
    std::vector<ListedReference> hits = {load(0), load(0, 500)};
    for (size_t i = 0; i < 100; i++)
        hits.push_back(store(8));
    expect_eq(time_of(machine, hits), cycle / 4 + miss + (501 + 100) * cycle / 4);
}

TEST(a_stream_is_bound_by_bandwidth) {
    TestMachine machine;
    machine.memory_gap = 10'000; // 6.4 GB/s
    machine.config.core.outstanding = 64;
    machine.config.core.window = 256;
    const size_t count = 20'000;
    const Ps time = time_of(machine, lines(count, 1));
    expect_le(count * 10'000, time);
    expect_le(time, count * 10'000 + 2 * miss);
}

TEST(a_full_queue_holds_requests_back_and_loses_none) {
    TestMachine machine;
    machine.memory_gap = 10'000;
    machine.queue = 2;
    machine.config.core.outstanding = 64;
    const size_t count = 5'000;
    run(machine, {lines(count, 1)}, [&](auto &system, auto &memories, auto &) {
        expect_eq(memories[0].seen.size(), count);
        expect_le(system.time(), count * 10'000 + 2 * miss);
    });
}

TEST(a_reference_of_several_lines_brings_each) {
    TestMachine machine;
    ListedReference wide = load(60);
    wide.reference.bytes = 200; // bytes 60 to 259: lines 0 to 4
    run(machine, {{wide}}, [](auto &system, auto &memories, auto &) {
        expect_eq(memories[0].seen.size(), 5u);
        expect_eq(system.cores()[0].statistics().lines, 5u);
        expect_eq(system.cores()[0].statistics().instructions, 1u);
        expect_eq(system.time(), 5 * cycle / 4 + miss);
    });
}

TEST(time_is_instructions_and_stalls_and_nothing_else) {
    TestMachine machine;
    std::vector<ListedReference> list;
    uint64_t state = 1, instructions = 0;
    for (size_t i = 0; i < 20'000; i++) {
        state = state * 6364136223846793005 + 1442695040888963407;
        const uint32_t gap = uint32_t(state >> 60);
        const uint64_t address = (state >> 30) % (1 << 20);
        std::vector<uint32_t> producers;
        if (i > 8 && state >> 50 & 1)
            producers = {uint32_t(1 + (state >> 52) % 7)};
        list.push_back((state >> 51 & 1) ? load(address / 8 * 8, gap, producers, i % 3)
                                         : store(address / 8 * 8, gap, producers, i % 3));
        instructions += gap + 1;
    }
    run(machine, {list}, [&](auto &system, auto &, auto &) {
        const CoreStatistics &core = system.cores()[0].statistics();
        Tick sum = instructions * machine.config.core.instruction();
        for (Tick each : core.stall)
            sum += each;
        expect_eq(sum, core.finish);
        expect_eq(core.instructions, instructions);
    });
}

TEST(a_line_that_another_core_waits_for_is_asked_for_once) {
    TestMachine machine;
    machine.config.levels[1].shared_by = 2;
    machine.config.cores = 2;
    run(machine, {{load(0)}, {load(8, 40)}}, [](auto &system, auto &memories, auto &) {
        expect_eq(memories[0].seen.size(), 1u);
        // The second comes ten cycles later and has the line when the first has it.
        expect_eq(ceil_ps(system.cores()[1].statistics().finish), cycle / 4 + miss);
    });
    machine.config.levels[1].shared_by = 1;
    run(machine, {{load(0)}, {load(8, 40)}},
        [](auto &, auto &memories, auto &) { expect_eq(memories[0].seen.size(), 2u); });
}

TEST(non_temporal_stores_read_nothing_and_wait_for_memory_to_take_them) {
    TestMachine machine;
    machine.memory_gap = 5000;
    machine.queue = 4;
    machine.config.non_temporal_stores = true;
    std::vector<ListedReference> list;
    for (uint64_t line = 0; line < 1000; line++) {
        list.push_back(store(line * 64));
        list.back().reference.bytes = line % 2 ? 64 : 8; // parts of lines go through the caches
    }
    run(machine, {list}, [&](auto &system, auto &memories, auto &) {
        uint64_t reads = 0, whole = 0;
        for (const Request &request : memories[0].seen) {
            reads += !request.write;
            whole += request.write && request.address / 64 % 2;
        }
        expect_eq(reads, 500u);
        expect_eq(whole, 500u);
        // All but what is under way at the end has been taken.
        expect_le((1000 - 4 - 2 * 16) * machine.memory_gap, system.time());
    });
}
