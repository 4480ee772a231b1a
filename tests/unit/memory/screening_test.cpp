// The screening model beside the faithful one: how far apart they may be, and what must be equal.
#include "check.h"
#include "devices.h"

using namespace devices;

static nlohmann::json screening(nlohmann::json json) {
    json["fidelity"] = "screening";
    return json;
}

static nlohmann::json hbm() {
    nlohmann::json json = ddr4();
    nlohmann::json &dram = json["dram"];
    dram["clock_ps"] = 1000;
    dram["burst_bytes"] = 32;
    dram["burst_cycles"] = 2;
    dram["row_bytes"] = 1024;
    dram["separate_row_bus"] = true;
    dram["queues"] = {{"reads", 64},
                      {"writes", 64},
                      {"drain_start", 48},
                      {"drain_stop", 16},
                      {"row_hit_cap", 32}};
    dram["timing"] = {{"cl", 18},         {"cwl", 7},   {"rcd", 12},   {"rp", 14},
                      {"ras", 28},        {"rc", 42},   {"ccd_s", 2},  {"ccd_l", 3},
                      {"rrd_s", 4},       {"rrd_l", 6}, {"faw", 16},   {"wr", 14},
                      {"wtr_s", 4},       {"wtr_l", 9}, {"rtp", 5},    {"bus_turn", 2},
                      {"rank_switch", 2}, {"rfc", 260}, {"refi", 3900}};
    return json;
}

static std::vector<Request> mixed(uint64_t count, unsigned writes) {
    std::vector<Request> requests = random(count, writes);
    for (Request &request : requests)
        if (request.token % 2 == 0)
            request.address = request.token * 32;
    return requests;
}

static double ratio(const nlohmann::json &json, const std::vector<Request> &requests) {
    const Run fine = run(json, requests), quick = run(screening(json), requests);
    expect_eq(quick.done.size(), requests.size());
    return double(quick.end) / double(fine.end);
}

TEST(saturated_bandwidth_is_near_the_faithful_one) {
    nlohmann::json ranks = ddr4();
    ranks["dram"]["ranks"] = 2;
    for (const nlohmann::json &json : {ddr4(), ranks, hbm()}) {
        for (bool write : {false, true}) {
            const double streaming = ratio(json, stream(40000, write));
            expect_lt(0.95, streaming);
            expect_lt(streaming, 1.05);
        }
        for (unsigned writes : {0, 33, 100})
            for (const auto &requests : {random(40000, writes), mixed(40000, writes)}) {
                const double random = ratio(json, requests);
                expect_lt(0.85, random);
                expect_lt(random, 1.15);
            }
    }
}

TEST(unloaded_latency_is_within_a_burst_of_the_data_sheets) {
    std::vector<Request> requests = stream(3);
    requests[1].arrival = 1'000'000;
    requests[1].address = 256;
    requests[2].arrival = 2'000'000;
    requests[2].address = uint64_t(8192) * 16 * 16; // another row of the bank
    const Run fine = run(without_refresh(), requests);
    const Run quick = run(screening(without_refresh()), requests);
    for (int i : {0, 1, 2}) {
        expect_le(fine.done[i].at, quick.done[i].at + 833);
        expect_le(quick.done[i].at, fine.done[i].at + 4 * 833);
    }
    expect_eq(quick.statistics.row_hits, 1u);
    expect_eq(quick.statistics.row_misses, 1u);
    expect_eq(quick.statistics.row_conflicts, 1u);
}

TEST(light_load_has_nearly_the_faithful_latency_and_energy) {
    const std::vector<Request> requests = random(30000, 30, 60000);
    const Run fine = run(ddr4(), requests), quick = run(screening(ddr4()), requests);
    auto mean = [](const Run &result) {
        const Traffic &traffic = result.statistics.dram.traffic[0];
        return double(traffic.read_latency.sum()) / double(traffic.reads);
    };
    expect_lt(mean(fine) * 0.93, mean(quick));
    expect_lt(mean(quick), mean(fine) * 1.07);
    const double energy = fine.statistics.dram.energy.total();
    expect_lt(energy * 0.97, quick.statistics.dram.energy.total());
    expect_lt(quick.statistics.dram.energy.total(), energy * 1.03);
    expect_le(fine.statistics.refreshes, quick.statistics.refreshes + 1);
    expect_le(quick.statistics.refreshes, fine.statistics.refreshes + 1);
}

TEST(streams_in_one_bank_are_hits_as_when_reordered) {
    // Two rows of one bank, in turn: in order each would be a conflict.
    std::vector<Request> requests = stream(4000);
    for (Request &request : requests)
        request.address = request.token / 2 % 128 * 256 + request.token % 2 * 8192 * 16 * 16;
    const double conflicts = double(run(screening(ddr4()), requests).statistics.row_conflicts);
    expect_lt(conflicts, 4000 * 0.5);
}

TEST(full_queues_are_the_callers_to_wait_for) {
    Memory memory(parse_memory(screening(ddr4())));
    std::vector<Request> requests = random(33, 0);
    for (int i = 0; i < 32; i++) {
        expect_true(memory.accepts(requests[i]));
        memory.push(requests[i]);
    }
    expect_true(!memory.accepts(requests[32]));
    std::vector<Completion> done;
    memory.advance(0, done);
    expect_eq(done.size(), 32u);
    memory.advance(memory.next(), done);
    expect_true(memory.accepts(requests[32]));
}

TEST(admit_is_accepts_and_push) {
    for (nlohmann::json json : {ddr4(), with_link(), with_nvm(), hbm()})
        for (const char *fidelity : {"faithful", "screening"})
            for (Ps interval : {0, 8000, 30000}) {
                json["fidelity"] = fidelity;
                std::vector<Request> requests = random(5000, 40, interval);
                const Run loop = run(json, requests);
                Memory memory(parse_memory(json));
                std::vector<Completion> done;
                for (const Request &request : requests)
                    memory.admit(request);
                memory.advance(loop.statistics.until, done);
                expect_eq(done.size(), loop.done.size());
                std::sort(done.begin(), done.end(), [](const Completion &a, const Completion &b) {
                    return a.token < b.token;
                });
                for (size_t i = 0; i < done.size(); i++)
                    if (done[i].at != loop.done[i].at) {
                        expect_eq(done[i].at, loop.done[i].at);
                        break;
                    }
            }
}

TEST(nvm_keeps_its_bandwidth_behind_a_link_too) {
    for (bool write : {false, true}) {
        std::vector<Request> requests = stream(8000, write);
        for (Request &request : requests)
            request.address += nvm_base;
        nlohmann::json json = with_nvm();
        const double bare = ratio(json, requests);
        json["link"] = with_link()["link"];
        const double linked = ratio(json, requests);
        for (double each : {bare, linked}) {
            expect_lt(0.9, each);
            expect_lt(each, 1.1);
        }
    }
}

TEST(slots_are_taken_once_and_forgotten) {
    Calendar calendar(26, 1000); // 6.5 cycles
    Cycle last = 0;
    for (int i = 0; i < 100; i++) {
        const Cycle start = calendar.reserve(10);
        expect_true(i == 0 ? start == 10 : i == 1 || start >= last + 6);
        last = start;
    }
    expect_lt(last, 10 + 100 * 6.5 + 6.5);
    calendar.forget_before(100000);
    expect_eq(calendar.reserve(100000), 100000u);
    SlotSet set(500);
    for (uint64_t slot : {3, 70, 71, 300})
        set.add(slot);
    expect_eq(set.first_free(70), 72u);
    expect_eq(set.take_first(), 3u);
    expect_eq(set.first(), 70u);
    set.drop_before(71);
    expect_eq(set.size(), 2u);
    set.drop_before(10000);
    expect_eq(set.size(), 0u);
}

TEST(division_is_exact) {
    std::mt19937_64 generator(1);
    for (uint64_t by : {1, 2, 3, 6, 7, 417, 833, 1000, 1 << 20})
        for (int i = 0; i < 10000; i++) {
            const uint64_t number = generator() >> (generator() % 60);
            expect_eq(Divider(by).divide(number), number / by);
            expect_eq(Divider(by).divide(number / by * by), number / by);
        }
}
