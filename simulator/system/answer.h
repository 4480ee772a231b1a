// A run's answer as JSON.
#pragma once
#include "simulator/system/simulation.h"

namespace thermocline {

// Mean and percentiles of a histogram, in ns.
nlohmann::json latency_json(const Histogram &histogram);

// A tier's part of its memories' statistics, summed over sockets.
struct TierDevices {
    uint64_t row_hits = 0, rows = 0; // bursts that found their row open (NVM: their block), all
    Ps bus_busy = 0;
    Energy energy;
    double link_pj = 0;
};
TierDevices devices_of(const SimulationConfig &config, const std::vector<Statistics> &memories,
                       uint32_t tier);

// Everything but what an organisation's class knows.
struct RunSummary {
    Ps time = 0;
    std::vector<std::pair<uint64_t, Ps>> timeline; // references by then, now and then
    std::vector<CoreStatistics> cores;             // of threads
    std::vector<uint32_t> thread_cores;
    CacheStatistics caches;
    PlacementStatistics placement;
    MigrationStatistics migrations;
    uint64_t requests = 0, link_lines = 0, skipped = 0;
    bool budget_reached = false, cut_off = false;
    std::vector<std::vector<TierUse>> use; // by tier, then owner
    std::vector<Histogram> latency;        // by tier
    std::vector<Statistics> memories;
    std::vector<std::string> owners;
    std::vector<uint32_t> first_owner, program_of; // of each program's owners; of each thread
    nlohmann::json organisation, policy;           // what they counted; of some policies null
};
nlohmann::json answer_json(const SimulationConfig &config, const RunSummary &run);

} // namespace thermocline
