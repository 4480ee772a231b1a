// The faithful DRAM channel: what the data sheet's formulas say, and what the policy promises.
#include "check.h"
#include "devices.h"

using namespace devices;

static Request read_of(uint64_t address, Ps arrival, uint64_t token, uint32_t bytes = 64) {
    Request request;
    request.address = address;
    request.arrival = arrival;
    request.token = token;
    request.bytes = bytes;
    return request;
}

static constexpr Ps clock_ps = 833;
// Another row of bank 0: the row's low bits are mixed into the bank, so 16 rows further.
static constexpr uint64_t same_bank = uint64_t(8192) * 16 * 16;

TEST(unloaded_latency_is_the_data_sheets) {
    // Closed row: rcd + cl + burst.  Open row: cl + burst.  Another row: rp + rcd + cl + burst.
    const Run result =
        run(without_refresh(), {read_of(0, 0, 0), read_of(64 * 4, 1000 * clock_ps, 1),
                                read_of(same_bank, 2000 * clock_ps, 2)});
    expect_eq(result.done.size(), 3u);
    expect_eq(result.done[0].at, (17 + 17 + 4) * clock_ps);
    expect_eq(result.done[1].at - 1000 * clock_ps, (17 + 4) * clock_ps);
    expect_eq(result.done[2].at - 2000 * clock_ps, (17 + 17 + 17 + 4) * clock_ps);
    expect_eq(result.statistics.row_misses, 1u);
    expect_eq(result.statistics.row_hits, 1u);
    expect_eq(result.statistics.row_conflicts, 1u);
    const Histogram &latency = result.statistics.dram.traffic[0].read_latency;
    expect_eq(latency.sum(), (38 + 21 + 55) * clock_ps);
    expect_eq(latency.greatest(), 55 * clock_ps);
}

TEST(arrival_between_edges_waits_for_the_next) {
    const Run result = run(without_refresh(), {read_of(0, 1, 0)});
    expect_eq(result.done[0].at, (1 + 38) * clock_ps);
}

static double share_of_bus(const Run &result, uint64_t channels = 1) {
    return double(result.statistics.dram.bus_busy) / double(channels) / double(result.end);
}

TEST(streams_reach_the_bus_limit_less_refresh) {
    const nlohmann::json json = ddr4();
    const double refresh = 421.0 / 9364;
    for (bool write : {false, true}) {
        const Run result = run(json, stream(200000, write));
        expect_lt(share_of_bus(result), 1 - refresh);
        expect_le(0.98 * (1 - refresh), share_of_bus(result));
    }
    // Requests of four bursts, and three channels.
    nlohmann::json three = ddr4();
    three["channels"] = 3;
    std::vector<Request> large(100000);
    for (uint64_t i = 0; i < large.size(); i++)
        large[i] = read_of(256 * i, 0, i, 256);
    const Run result = run(three, large);
    expect_eq(result.statistics.dram.read_bursts, 4 * large.size());
    expect_le(0.98 * (1 - refresh), share_of_bus(result, 3));
}

TEST(random_reads_reach_the_limit_of_four_activates) {
    // One activate a read and faw for four of them bound one rank: 26 / 4 cycles a read.
    const Run result = run(without_refresh(), random(50000, 0));
    const double cycles = double(result.end) / clock_ps / 50000;
    expect_lt(26.0 / 4, cycles);
    expect_lt(cycles, 26.0 / 4 * 1.05);
}

TEST(rows_stay_open) {
    const Run result = run(without_refresh(), stream(128 * 4)); // one row in each bank group
    expect_eq(result.statistics.activates, 4u);
    expect_eq(result.statistics.row_misses, 4u);
    expect_eq(result.statistics.row_hits, 128 * 4 - 4u);
}

TEST(hits_pass_an_older_conflict_up_to_the_cap) {
    // One hit to open the row, a conflict, then hits without end: 16 reads of the open row may
    // go before the conflict's.
    std::vector<Request> requests = {read_of(0, 0, 0), read_of(same_bank, 1, 1)};
    for (uint64_t i = 1; i <= 29; i++)
        requests.push_back(read_of(256 * i, 2, i + 1)); // the same row of bank group 0
    const Run result = run(without_refresh(), requests);
    int before = 0, reads = 0;
    for (const Command &command : result.commands) {
        if (command.kind == CommandKind::precharge)
            break;
        before += command.kind == CommandKind::read;
    }
    for (const Command &command : result.commands)
        reads += command.kind == CommandKind::read;
    expect_eq(before, 16);
    expect_eq(reads, 31);
}

TEST(writes_wait_and_are_drained) {
    // Reads keep the read queue busy: writes go only from the start of a drain to its stop.
    std::vector<Request> requests;
    for (uint64_t i = 0; i < 4000; i++) {
        Request request = read_of(64 * i, 0, i);
        request.write = i % 8 == 0;
        request.address += request.write ? uint64_t(1) << 30 : 0;
        requests.push_back(request);
    }
    const Run result = run(without_refresh(), requests);
    std::vector<int> drains;
    bool writing = false;
    for (const Command &command : result.commands) {
        if (command.kind == CommandKind::write) {
            if (!writing)
                drains.push_back(0);
            drains.back()++;
        }
        if (command.kind == CommandKind::read || command.kind == CommandKind::write)
            writing = command.kind == CommandKind::write;
    }
    expect_eq(result.statistics.dram.write_bursts, 500u);
    expect_lt(20u, drains.size());
    // Each takes the queue from 24 to 8, and what came meanwhile; the last takes the rest.
    drains.pop_back();
    for (int drain : drains) {
        expect_le(16, drain);
        expect_le(drain, 24);
    }
}

TEST(a_waiting_write_answers_and_merges) {
    std::vector<Request> requests(4);
    for (uint64_t i = 0; i < 4; i++) {
        requests[i] = read_of(i == 0 ? 4096 : 64, 0, i);
        requests[i].write = i == 1 || i == 2;
    }
    const Run result = run(without_refresh(), requests); // a read, two writes, a read of theirs
    expect_eq(result.statistics.merged, 1u);
    expect_eq(result.statistics.answered, 1u);
    expect_eq(result.statistics.dram.write_bursts, 1u);
    expect_eq(result.statistics.dram.read_bursts, 1u);
    expect_eq(result.done[3].at, clock_ps);
    expect_eq(result.done[1].at, 0u); // a write is complete when it enters
}

TEST(refresh_comes_when_due_and_closes_rows) {
    Memory memory(parse_memory(ddr4()));
    std::vector<Command> commands;
    std::vector<Completion> done;
    memory.record(&commands);
    memory.push(read_of(0, 0, 0));
    memory.advance(3 * 9364 * clock_ps + 1, done);
    memory.statistics(3 * 9364 * clock_ps + 1); // idle channels catch up
    std::vector<Command> expected = {
        {0, 0, CommandKind::activate, 0, 0, 0},
        {17, 0, CommandKind::read, 0, 0, 0},
        {9364, 0, CommandKind::precharge_all, 0, 0, 0},
        {9364 + 17, 0, CommandKind::refresh, 0, 0, 0},
        {2 * 9364, 0, CommandKind::refresh, 0, 0, 0},
        {3 * 9364, 0, CommandKind::refresh, 0, 0, 0},
    };
    expect_eq(commands.size(), expected.size());
    expect_true(commands == expected);
    // A read that comes while the rank refreshes waits until rfc has passed.
    memory.push(read_of(0, (3 * 9364 + 1) * clock_ps, 1));
    while (memory.next() != never)
        memory.advance(memory.next(), done);
    expect_eq(done.back().at, (3 * 9364 + 421 + 38) * clock_ps);
}

TEST(ranks_refresh_one_after_the_other) {
    nlohmann::json json = ddr4();
    json["dram"]["ranks"] = 2;
    const Run result = run(json, random(20000, 30));
    Cycle last[2] = {};
    uint64_t refreshes = 0;
    for (const Command &command : result.commands)
        if (command.kind == CommandKind::refresh) {
            last[command.rank] = command.cycle;
            refreshes++;
            // Due at 4682 and 9364 more each; late at most by what is under way.
            const Cycle phase = command.rank == 0 ? 4682 : 0;
            expect_lt((command.cycle - phase) % 9364, 200u);
        }
    expect_true(last[0] != 0 && last[1] != 0);
    expect_eq(refreshes, result.statistics.refreshes);
}

TEST(a_full_queue_is_the_callers_to_wait_for) {
    Memory memory(parse_memory(without_refresh()));
    std::vector<Completion> done;
    for (uint64_t i = 0; i < 32; i++) {
        expect_true(memory.accepts(read_of(64 * i, 0, i)));
        memory.push(read_of(64 * i, 0, i));
    }
    expect_true(!memory.accepts(read_of(0, 0, 32)));
    Request write = read_of(0, 0, 33);
    write.write = true;
    expect_true(memory.accepts(write)); // the other queue has room
    expect_true(memory.accepts(write) && !memory.accepts(read_of(1, 0, 34, 128)));
    // The first RD frees an entry: cycle 17.
    Ps now = 0;
    while (!memory.accepts(read_of(0, 0, 32)))
        memory.advance(now = memory.next(), done);
    expect_eq(now, 17 * clock_ps + 1);
    expect_true(!memory.accepts(read_of(0, 0, 34, 128))); // two bursts
}

TEST(how_often_advance_is_called_changes_nothing) {
    for (Ps interval : {4000, 12000}) {
        const std::vector<Request> requests = random(20000, 30, interval, 1 << 24);
        const Run fine = run(ddr4(), requests);
        Memory memory(parse_memory(ddr4()));
        std::vector<Completion> done;
        std::vector<Command> commands;
        memory.record(&commands);
        for (Request request : requests) {
            if (!memory.accepts(request)) { // only if it must
                memory.advance(request.arrival, done);
                while (!memory.accepts(request))
                    memory.advance(request.arrival = memory.next(), done);
            }
            request.arrival = std::max(request.arrival, Ps(0));
            memory.push(request);
        }
        memory.statistics(fine.statistics.until);
        memory.advance(fine.statistics.until, done);
        expect_eq(done.size(), requests.size());
        expect_eq(commands.size(), fine.commands.size());
        if (interval == 12000) // never full: arrivals are the same
            expect_true(commands == fine.commands);
    }
}

TEST(same_requests_same_result) {
    const Run first = run(ddr4(), random(30000, 40)), second = run(ddr4(), random(30000, 40));
    expect_true(first.commands == second.commands);
    expect_eq(first.end, second.end);
    const Run other = run(ddr4(), random(30000, 40, 0, uint64_t(1) << 33, 2));
    expect_true(first.commands != other.commands);
}

TEST(energy_is_the_sum_of_what_was_done) {
    nlohmann::json json = ddr4();
    json["channels"] = 2;
    const Run result = run(json, random(20000, 30, 20000));
    uint64_t activates = 0, reads = 0, writes = 0, refreshes = 0, open_cycles = 0;
    uint32_t open[2] = {};
    Cycle since[2] = {};
    bool is_open[2][16] = {};
    for (const Command &command : result.commands) {
        const uint32_t c = command.channel;
        activates += command.kind == CommandKind::activate;
        reads += command.kind == CommandKind::read;
        writes += command.kind == CommandKind::write;
        refreshes += command.kind == CommandKind::refresh;
        if (command.kind == CommandKind::activate) {
            if (open[c]++ == 0)
                since[c] = command.cycle;
            is_open[c][command.bank] = true;
        }
        for (uint32_t bank = 0; bank < 16; bank++)
            if (is_open[c][bank] &&
                (command.kind == CommandKind::precharge_all ||
                 (command.kind == CommandKind::precharge && command.bank == bank))) {
                is_open[c][bank] = false;
                if (--open[c] == 0)
                    open_cycles += command.cycle - since[c];
            }
    }
    const Ps until = result.statistics.until;
    for (uint32_t c = 0; c < 2; c++)
        if (open[c] != 0)
            open_cycles += (until + clock_ps - 1) / clock_ps - since[c];
    const Energy &energy = result.statistics.dram.energy;
    const double ns = double(until) / 1000, open_ns = double(open_cycles) * clock_ps / 1000;
    auto close = [](double a, double b) { return a > b * (1 - 1e-9) && a < b * (1 + 1e-9); };
    expect_true(close(energy.activate, double(activates) * 1000));
    expect_true(close(energy.read, double(reads) * 200));
    expect_true(close(energy.write, double(writes) * 300));
    expect_true(close(energy.refresh, double(refreshes) * 50000));
    expect_true(close(energy.background, open_ns * 40 + (2 * ns - open_ns) * 30));
    expect_true(close(energy.fixed, 2 * ns * 7));
    expect_true(close(energy.total(), energy.activate + energy.read + energy.write +
                                          energy.refresh + energy.background + energy.fixed));
    expect_lt(0u, refreshes);
}

TEST(histogram_buckets_hold_their_times) {
    for (Ps time = 0; time < 100000; time++) {
        const unsigned bucket = Histogram::bucket(time);
        expect_true(Histogram::from(bucket) <= time && time < Histogram::from(bucket + 1));
    }
    expect_eq(Histogram::bucket(never), Histogram::buckets - 1);
}
