// Drives one memory with a made stream, and says how fast the simulator was: memory_devices.py
// compiles and runs this.
//
//   memory_devices CONFIG.json PATTERN REQUESTS INTERVAL_PS SPAN_BYTES WRITE_PERCENT
//
// PATTERN: random, stream, or mixed (half of each).  INTERVAL_PS: between arrivals; 0: saturated,
// each request comes as soon as there is room.  One line of JSON on stdout.
#include "simulator/memory/memory.h"
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <nlohmann/json.hpp>
#include <random>
#include <sys/resource.h>

using namespace thermocline;

static double user_seconds() {
    rusage usage{};
    getrusage(RUSAGE_SELF, &usage);
    return double(usage.ru_utime.tv_sec) + double(usage.ru_utime.tv_usec) / 1e6;
}

int main(int argc, char **argv) {
    if (argc != 7) {
        fprintf(stderr, "usage: memory_devices CONFIG PATTERN REQUESTS INTERVAL_PS SPAN WRITES\n");
        return 2;
    }
    const std::string pattern = argv[2];
    const uint64_t count = strtoull(argv[3], nullptr, 10);
    const Ps interval = strtoull(argv[4], nullptr, 10);
    const uint64_t lines = strtoull(argv[5], nullptr, 10) / 64;
    const uint64_t write_percent = strtoull(argv[6], nullptr, 10);
    std::vector<Request> requests(count);
    std::mt19937_64 generator(1);
    uint64_t line = 0;
    for (uint64_t i = 0; i < count; i++) {
        const bool random = pattern == "random" || (pattern == "mixed" && i % 2 != 0);
        requests[i].address = 64 * (random ? generator() % lines : line++ % lines);
        requests[i].write = generator() % 100 < write_percent;
        requests[i].token = i;
    }
    try {
        Memory memory(parse_memory(nlohmann::json::parse(std::ifstream(argv[1]))));
        std::vector<Completion> done;
        uint64_t reads = 0, checksum = 0;
        Ps now = 0, last = 0;
        auto take = [&] {
            for (const Completion &each : done) {
                last = std::max(last, each.at);
                checksum = checksum * 31 + each.at + each.token;
            }
            reads += done.size();
            done.clear();
        };
        const double before = user_seconds();
        for (Request &request : requests) {
            request.arrival = request.token * interval;
            now = memory.admit(request);
            if (request.token % 64 == 0) {
                memory.advance(now, done);
                take();
            }
        }
        for (Ps next; (next = memory.next()) != never; take())
            memory.advance(now = next, done);
        const double seconds = user_seconds() - before;
        const Statistics all = memory.statistics(std::max(now, last));
        const Histogram &latency = all.dram.traffic[0].read_latency;
        const nlohmann::json result = {
            {"seconds", seconds},
            {"requests", count},
            {"completions", reads},
            {"checksum", checksum},
            {"simulated_ps", last},
            {"bytes_per_second", double(count) * 64 / (double(last) / 1e12)},
            {"mean_read_latency_ps",
             double(latency.sum()) / double(std::max<uint64_t>(1, all.dram.traffic[0].reads))},
            {"row_hits", all.row_hits},
            {"row_misses", all.row_misses},
            {"row_conflicts", all.row_conflicts},
            {"bus_busy_ps", all.dram.bus_busy},
            {"energy_pj", all.dram.energy.total()}};
        printf("%s\n", result.dump().c_str());
    } catch (const std::exception &error) {
        fprintf(stderr, "thermocline: %s\n", error.what());
        return 1;
    }
}
