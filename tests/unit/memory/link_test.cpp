// A link in front of DRAM: latency and bandwidth of each direction.
#include "check.h"
#include "devices.h"

using namespace devices;

static constexpr Ps clock_ps = 833;

TEST(unloaded_latency_is_the_sum_of_the_ways) {
    std::vector<Request> requests = stream(2);
    requests[1].arrival = 1'000'000;
    requests[1].write = true;
    const Run result = run(with_link(), requests);
    // 16 bytes take 1 ns to go; 16 and 64 bytes 10 ns to return.
    const Ps at_memory = 1000 + 30000;
    const Cycle cycle = (at_memory + clock_ps - 1) / clock_ps;
    expect_eq(result.done[0].at, (cycle + 38) * clock_ps + 10000 + 40000);
    const Ps written = 1'000'000 + 5000 + 30000; // 80 bytes go, 16 bytes return
    const Cycle entered = (written + clock_ps - 1) / clock_ps;
    expect_eq(result.done[1].at, entered * clock_ps + 2000 + 40000);
    expect_eq(result.statistics.dram.traffic[0].read_latency.sum(), result.done[0].at);
    expect_eq(result.statistics.request_bytes, 16 + 80u);
    expect_eq(result.statistics.response_bytes, 80 + 16u);
}

TEST(a_direction_bounds_bandwidth) {
    const uint64_t count = 20000;
    // Reads: 80 bytes return for each at 8 GB/s: 10 ns.  Writes: 80 bytes go, at 16 GB/s: 5 ns.
    const Run reads = run(with_link(), stream(count)),
              writes = run(with_link(), stream(count, true));
    expect_le(count * 10000, reads.end);
    expect_lt(double(reads.end), double(count) * 10000 * 1.01);
    expect_le(count * 5000, writes.end);
    expect_lt(double(writes.end), double(count) * 5000 * 1.01);
    // Both at once pass what one direction could carry.
    std::vector<Request> both = stream(count);
    for (Request &request : both)
        request.write = request.token % 4 == 3;
    const Run mixed = run(with_link(), both);
    expect_lt(mixed.end, reads.end);
}

TEST(the_links_buffer_is_the_callers_to_wait_for) {
    Memory memory(parse_memory(with_link()));
    std::vector<Request> requests = stream(65);
    for (uint64_t i = 0; i < 64; i++) {
        expect_true(memory.accepts(requests[i]));
        memory.push(requests[i]);
    }
    expect_true(!memory.accepts(requests[64]));
    std::vector<Completion> done;
    Ps now = 0;
    while (!memory.accepts(requests[64]))
        memory.advance(now = memory.next(), done);
    expect_eq(now, 31001u); // the first has left for the memory's queue
}

TEST(a_full_queue_behind_the_link_holds_up_but_loses_nothing) {
    // The memory's own writes are slower than the link: all complete, in finite time.
    nlohmann::json json = with_link();
    json["link"]["request_bandwidth"] = 1'000'000'000'000;
    json["link"]["response_bandwidth"] = 1'000'000'000'000;
    const Run linked = run(json, random(20000, 50));
    expect_eq(linked.done.size(), 20000u);
    json.erase("link");
    const Run bare = run(json, random(20000, 50));
    expect_lt(double(linked.end), double(bare.end) * 1.1);
}

TEST(how_often_advance_is_called_changes_nothing) {
    const std::vector<Request> requests = random(5000, 30, 20000);
    const Run fine = run(with_link(), requests);
    Memory memory(parse_memory(with_link()));
    std::vector<Completion> done;
    std::vector<Command> commands;
    memory.record(&commands);
    for (size_t i = 0; i < requests.size(); i++) {
        if (i % 20 == 0)
            memory.advance(requests[i].arrival, done);
        memory.push(requests[i]);
    }
    memory.advance(fine.statistics.until, done);
    expect_true(commands == fine.commands);
    expect_eq(done.size(), requests.size());
    for (const Completion &each : done)
        expect_eq(each.at, fine.done[each.token].at);
}

TEST(the_links_energy_is_by_byte_and_time) {
    const Run result = run(with_link(), stream(100));
    const double bytes = 100 * 16 + 100 * 80;
    expect_eq(result.statistics.link_pj, bytes * 40 + double(result.statistics.until) / 1000 * 500);
}
