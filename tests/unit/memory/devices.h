// Configurations and streams that the memory tests share.
#pragma once
#include "simulator/memory/memory.h"
#include <algorithm>
#include <nlohmann/json.hpp>
#include <random>

namespace devices {

using namespace thermocline;

// One rank of DDR4-2400, 17-17-17; figures of energy that a test can tell apart.
inline nlohmann::json ddr4() {
    return nlohmann::json::parse(R"({
      "name": "DDR4-2400", "channels": 1, "interleave_bytes": 256, "fidelity": "faithful",
      "dram": {
        "clock_ps": 833, "burst_bytes": 64, "burst_cycles": 4,
        "ranks": 1, "bank_groups": 4, "banks_per_group": 4, "row_bytes": 8192,
        "separate_row_bus": false,
        "queues": {"reads": 32, "writes": 32, "drain_start": 24, "drain_stop": 8,
                   "row_hit_cap": 16},
        "timing": {"cl": 17, "cwl": 12, "rcd": 17, "rp": 17, "ras": 39, "rc": 56,
                   "ccd_s": 4, "ccd_l": 6, "rrd_s": 4, "rrd_l": 6, "faw": 26,
                   "wr": 18, "wtr_s": 3, "wtr_l": 9, "rtp": 9, "bus_turn": 2, "rank_switch": 2,
                   "rfc": 421, "refi": 9364},
        "energy": {"activate_pj": 1000, "read_pj": 200, "write_pj": 300, "refresh_pj": 50000,
                   "open_mw": 40, "closed_mw": 30, "static_mw": 7}}})");
}

inline nlohmann::json without_refresh(nlohmann::json json = ddr4()) {
    json["dram"]["timing"]["refi"] = 0;
    return json;
}

// A link with round figures, in front of memory without refresh.
inline nlohmann::json with_link() {
    nlohmann::json json = without_refresh();
    json["link"] = {{"request_ps", 30000},
                    {"response_ps", 40000},
                    {"request_bandwidth", 16'000'000'000},
                    {"response_bandwidth", 8'000'000'000},
                    {"header_bytes", 16},
                    {"entries", 64},
                    {"pj_per_byte", 40},
                    {"static_mw", 500}};
    return json;
}

// A module of NVM on DDR4's channel, from 4 GiB on.  All times are whole cycles.
constexpr uint64_t nvm_base = uint64_t(1) << 32;
inline nlohmann::json with_nvm() {
    nlohmann::json json = without_refresh();
    json["nvm_base"] = nvm_base;
    json["nvm"] = {{"block_bytes", 256},
                   {"interleave_bytes", 4096},
                   {"reads", 32},
                   {"writes", 32},
                   {"read_buffer", 16},
                   {"write_buffer", 16},
                   {"buffer_ps", 40 * 833},
                   {"media_read_ps", 200 * 833},
                   {"read_gap_ps", 48 * 833},
                   {"write_gap_ps", 150 * 833},
                   {"read_pj", 5000},
                   {"write_pj", 20000},
                   {"transfer_pj", 100},
                   {"static_mw", 900}};
    return json;
}

// A stream's requests pushed as soon as there is room, each not before its arrival.
struct Run {
    std::vector<Completion> done; // by token
    std::vector<Command> commands;
    Ps end = 0; // the last completion
    Statistics statistics;
};
inline Run run(const nlohmann::json &json, std::vector<Request> requests) {
    Memory memory(parse_memory(json));
    Run result;
    if (memory.config().fidelity == Fidelity::faithful)
        memory.record(&result.commands);
    Ps now = 0;
    for (Request &request : requests) {
        now = std::max(now, request.arrival);
        memory.advance(now, result.done);
        while (!memory.accepts(request))
            memory.advance(now = memory.next(), result.done);
        request.arrival = now;
        memory.push(request);
    }
    for (Ps next; (next = memory.next()) != never; now = next)
        memory.advance(next, result.done);
    for (const Completion &each : result.done)
        result.end = std::max(result.end, each.at);
    std::sort(result.done.begin(), result.done.end(),
              [](const Completion &a, const Completion &b) { return a.token < b.token; });
    result.statistics = memory.statistics(std::max(now, result.end));
    return result;
}

inline std::vector<Request> stream(uint64_t count, bool write = false) {
    std::vector<Request> requests(count);
    for (uint64_t i = 0; i < count; i++) {
        requests[i].address = 64 * i;
        requests[i].token = i;
        requests[i].write = write;
    }
    return requests;
}

// Addresses in a span, writes in percent, arrivals a mean interval apart.
inline std::vector<Request> random(uint64_t count, unsigned writes, Ps interval = 0,
                                   uint64_t span = uint64_t(1) << 33, unsigned seed = 1) {
    std::vector<Request> requests(count);
    std::mt19937_64 generator(seed);
    Ps now = 0;
    for (uint64_t i = 0; i < count; i++) {
        requests[i].address = generator() % (span / 64) * 64;
        requests[i].token = i;
        requests[i].write = generator() % 100 < writes;
        now += interval == 0 ? 0 : generator() % (2 * interval);
        requests[i].arrival = now;
    }
    return requests;
}

} // namespace devices
