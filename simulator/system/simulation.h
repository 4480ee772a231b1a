// One simulation as configured: what thermocline-simulator reads, and what it answers.
// docs/simulator.md has the JSON's fields.
#pragma once
#include "simulator/memory/memory.h"
#include "simulator/system/system.h"
#include "simulator/system/trace_thread.h"
#include <nlohmann/json.hpp>

namespace thermocline {

struct TierConfig {
    std::string name;
    bool nvm = false; // its part of its memories
};

struct SimulationConfig {
    std::vector<std::string> traces; // of programs that share the machine; mostly one
    Region region;                   // of each
    uint64_t skip = 0;               // references of each thread, at the trace's beginning
    uint64_t budget = 0;             // references of each thread; 0: all
    Ps limit = 0;                    // no reference begins much later; 0: all do
    // Of each trace; 0 or missing: those that it has; of a stream, wait for so many.
    std::vector<uint32_t> threads;
    std::vector<uint32_t> cores; // of each thread, trace after trace; the rest in order
    SystemConfig system;
    double core_watts = 0;
    std::vector<MemoryConfig> memories;
    std::vector<TierConfig> tiers;
    std::string placement, organisation;
    nlohmann::json placement_config;
    FramesConfig frames;
};

SimulationConfig parse_simulation(const nlohmann::json &json); // throws ConfigError
Region parse_region(const nlohmann::json &json);               // the same
// The same; `config` is complete but for this.
TranslationConfig parse_translation(const nlohmann::json &json, const SimulationConfig &config);

using ReportProgress = std::function<void(uint64_t references, Ps time)>;
// Throws ConfigError or TraceError.
nlohmann::json simulate(const SimulationConfig &config, const ReportProgress &progress);

} // namespace thermocline
