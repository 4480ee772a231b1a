// Puts a machine together as configured and runs it.  The organisations that there are: one line
// each in the table at the end.
#include "simulator/organisation/alloy.h"
#include "simulator/organisation/flat.h"
#include "simulator/organisation/memory_cache.h"
#include "simulator/system/answer.h"

namespace thermocline {

namespace {

using Json = nlohmann::json;

// The trace's threads and the cores that they run on.
std::vector<uint32_t> threads_of(TraceReader &trace, const SimulationConfig &config) {
    while ((trace.threads().empty() || trace.threads().size() < config.threads) && trace.advance())
        ;
    std::vector<uint32_t> threads = trace.threads();
    if (config.threads > 0 && threads.size() > config.threads)
        threads.resize(config.threads);
    if (threads.empty())
        throw ConfigError(trace.name() + " holds no references: nothing to simulate");
    return threads;
}

std::vector<uint32_t> cores_of(size_t threads, const SimulationConfig &config) {
    std::vector<uint32_t> cores = config.cores;
    if (cores.empty())
        for (uint32_t core = 0; core < config.system.cores; core++)
            cores.push_back(core);
    if (cores.size() < threads)
        throw ConfigError("the trace has " + std::to_string(threads) + " threads, the machine " +
                          std::to_string(cores.size()) +
                          " cores for them: record as many threads as the machine has cores");
    cores.resize(threads);
    return cores;
}

template <template <class> class Organisation>
Json run(const SimulationConfig &config, const ReportProgress &progress) {
    TraceReader trace(config.trace);
    const std::vector<uint32_t> threads = threads_of(trace, config);
    SystemConfig system_config = config.system;
    system_config.organisation.cores = uint32_t(threads.size());

    FramesConfig frames = config.frames;
    Organisation<Router<Memory>>::reserve(system_config.organisation, frames.node_bytes);
    Placement placement(
        frames, make_policy(config.placement, {config.placement_config, trace.tables().owners,
                                               uint32_t(config.tiers.size()), config.frames.seed}));
    std::vector<Memory> memories;
    memories.reserve(config.memories.size());
    for (const MemoryConfig &each : config.memories)
        memories.emplace_back(each);
    std::vector<TraceThread> sources;
    sources.reserve(threads.size());
    for (uint32_t thread : threads)
        sources.emplace_back(trace.cursor(thread, config.region), trace.tables(), config.skip,
                             config.budget);

    RunSummary summary;
    summary.thread_cores = cores_of(threads.size(), config);
    System<TraceThread, Organisation, Memory> system(system_config, placement, memories, sources,
                                                     summary.thread_cores);
    system.run(progress);

    summary.time = system.time();
    for (const auto &core : system.cores())
        summary.cores.push_back(core.statistics());
    summary.caches = system.caches();
    summary.placement = placement.statistics();
    summary.requests = system.router().requests();
    summary.link_lines = system.links().lines();
    for (const TraceThread &each : sources) {
        summary.skipped += each.skipped();
        summary.budget_reached |= each.stopped();
    }
    summary.cut_off = trace.cut_off();
    for (uint32_t tier = 0; tier < config.tiers.size(); tier++) {
        summary.use.push_back(system.router().use(tier));
        summary.latency.push_back(system.router().latency(tier));
    }
    for (Memory &memory : memories)
        summary.memories.push_back(
            memory.statistics(std::max(summary.time, system.router().advanced())));
    summary.owners = trace.tables().owners;
    summary.organisation = system.organisation().statistics();
    summary.organisation["name"] = config.organisation;
    return answer_json(config, summary);
}

constexpr struct {
    const char *name;
    Json (*run)(const SimulationConfig &, const ReportProgress &);
} organisations[] = {
    {"flat", run<Flat>},
    {"memory-cache", run<MemoryCache>},
    {"alloy", run<Alloy>},
};

} // namespace

Json simulate(const SimulationConfig &config, const ReportProgress &progress) {
    std::string known;
    for (const auto &each : organisations) {
        if (config.organisation == each.name)
            return each.run(config, progress);
        known += (known.empty() ? "" : ", ") + std::string(each.name);
    }
    throw ConfigError("no organisation '" + config.organisation + "': there are " + known);
}

} // namespace thermocline
