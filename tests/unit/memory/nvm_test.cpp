// NVM on a DRAM channel: blocks, buffers, asymmetry, and the bus that both share.
#include "check.h"
#include "devices.h"

using namespace devices;

static constexpr Ps clock_ps = 833;

static std::vector<Request> in_nvm(std::vector<Request> requests, uint64_t stride = 64) {
    for (Request &request : requests)
        request.address = nvm_base + request.address / 64 * stride;
    return requests;
}

TEST(media_answer_slower_than_the_buffer) {
    // Two reads of one block, long after each other, then another block.
    std::vector<Request> requests = in_nvm(stream(3));
    requests[1].arrival = 1000 * clock_ps;
    requests[2].arrival = 2000 * clock_ps;
    requests[2].address = nvm_base + 256;
    const Run result = run(with_nvm(), requests);
    expect_eq(result.done[0].at, (40 + 200 + 17 + 4) * clock_ps);
    expect_eq(result.done[1].at - requests[1].arrival, (40 + 17 + 4) * clock_ps);
    expect_eq(result.done[2].at - requests[2].arrival, (40 + 200 + 17 + 4) * clock_ps);
    expect_eq(result.statistics.media_reads, 2u);
    expect_eq(result.statistics.buffer_hits, 1u);
    expect_eq(result.statistics.nvm.traffic[0].reads, 3u);
    expect_eq(result.statistics.dram.traffic[0].reads, 0u);
}

TEST(bandwidth_is_the_medias) {
    const uint64_t count = 8000;
    auto cycles = [](const Run &result) { return double(result.end) / clock_ps; };
    const Run reads = run(with_nvm(), in_nvm(stream(count)));
    expect_eq(reads.statistics.media_reads, count / 4);
    expect_lt(cycles(reads), count / 4 * 48 * 1.02 + 300);
    const Run apart = run(with_nvm(), in_nvm(stream(count), 256)); // a line of each block
    expect_eq(apart.statistics.media_reads, count);
    expect_le(count * 48.0, cycles(apart));
    const Run writes = run(with_nvm(), in_nvm(stream(count, true)));
    expect_le(count / 4 - 16, writes.statistics.media_writes); // the rest is in the buffer
    expect_lt(writes.statistics.media_writes, count / 4 + 1);
    expect_eq(writes.statistics.combined, count - count / 4);
    const double wanted = (count / 4 - 16 - 32 / 4.0) * 150;
    expect_le(wanted * 0.98, cycles(writes));
    expect_lt(cycles(writes), count / 4 * 150 * 1.02);
    // Single lines cost a whole block each.
    const Run lines = run(with_nvm(), in_nvm(stream(count, true), 256));
    expect_eq(lines.statistics.media_writes, count - 16);
    expect_lt(cycles(writes) * 3.9, cycles(lines));
}

TEST(reads_and_writes_together_share_the_media) {
    std::vector<Request> requests = in_nvm(random(8000, 50));
    const Run result = run(with_nvm(), requests);
    expect_eq(result.done.size(), 8000u);
    const Statistics &all = result.statistics;
    const double media = double(all.media_reads) * 48 + double(all.media_writes) * 150;
    expect_le(media * 0.99, double(result.end) / clock_ps);
    expect_lt(double(result.end) / clock_ps, media * 1.05);
}

TEST(dram_and_nvm_share_the_bus) {
    // DRAM reads alone fill the bus; with NVM reads beside them both are there, and the bus is no
    // fuller than full.
    std::vector<Request> requests = stream(40000);
    for (Request &request : requests)
        if (request.token % 8 == 7)
            request.address += nvm_base;
    const Run both = run(with_nvm(), requests);
    expect_eq(both.done.size(), requests.size());
    expect_eq(both.statistics.nvm.read_bursts, 5000u);
    expect_eq(both.statistics.dram.read_bursts, 35000u);
    expect_le(both.statistics.nvm.bus_busy + both.statistics.dram.bus_busy, both.end);
    const Run alone = run(without_refresh(), stream(35000));
    expect_lt(alone.end, both.end);
}

TEST(dram_alone_is_as_without_a_module) {
    const std::vector<Request> requests = random(20000, 30, 0, nvm_base);
    const Run with = run(with_nvm(), requests), without = run(without_refresh(), requests);
    expect_true(with.commands == without.commands);
    expect_eq(with.end, without.end);
}

TEST(nobody_starves) {
    // Saturating DRAM traffic of both kinds, and NVM reads and writes now and then.
    std::vector<Request> requests = random(60000, 50, 0, nvm_base);
    for (Request &request : requests)
        if (request.token % 50 == 0)
            request.address += nvm_base;
    const Run result = run(with_nvm(), requests);
    expect_eq(result.done.size(), requests.size());
    const Histogram &latency = result.statistics.nvm.traffic[0].read_latency;
    expect_lt(latency.greatest(), 10'000 * clock_ps);
}

TEST(how_often_advance_is_called_changes_nothing) {
    std::vector<Request> requests = random(5000, 30, 100000, nvm_base);
    for (Request &request : requests)
        if (request.token % 3 == 0)
            request.address += nvm_base;
    const Run fine = run(with_nvm(), requests);
    Memory memory(parse_memory(with_nvm()));
    std::vector<Completion> done;
    for (const Request &request : requests)
        memory.push(request);
    memory.advance(fine.statistics.until, done);
    expect_eq(done.size(), requests.size());
    for (const Completion &each : done)
        expect_eq(each.at, fine.done[each.token].at);
}

TEST(energy_is_by_block_transfer_and_time) {
    const Run result = run(with_nvm(), in_nvm(random(4000, 50)));
    const Statistics &all = result.statistics;
    expect_eq(all.nvm.energy.read,
              double(all.media_reads) * 5000 + double(all.nvm.read_bursts) * 100);
    expect_eq(all.nvm.energy.write,
              double(all.media_writes) * 20000 + double(all.nvm.write_bursts) * 100);
    expect_eq(all.nvm.energy.fixed, double(all.until) / 1000 * 900);
    expect_lt(0u, all.media_writes);
}
