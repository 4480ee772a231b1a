// Puts a machine together as configured and runs it.  The organisations that there are: one line
// each in the table at the end.
#include "simulator/memory/known_fields.h"
#include "simulator/organisation/alloy.h"
#include "simulator/organisation/cameo.h"
#include "simulator/organisation/flat.h"
#include "simulator/organisation/memory_cache.h"
#include "simulator/organisation/pom.h"
#include "simulator/organisation/silc_fm.h"
#include "simulator/system/answer.h"
#include "simulator/system/programs.h"
#include "simulator/system/translation_answer.h"

namespace thermocline {

namespace {

using Json = nlohmann::json;

std::vector<uint32_t> cores_of(size_t threads, const SimulationConfig &config) {
    std::vector<uint32_t> cores = config.cores;
    if (cores.empty())
        for (uint32_t core = 0; core < config.system.cores; core++)
            cores.push_back(core);
    if (cores.size() < threads)
        throw ConfigError("there are " + std::to_string(threads) + " threads, the machine " +
                          std::to_string(cores.size()) +
                          " cores for them: record as many threads as the machine has cores");
    cores.resize(threads);
    return cores;
}

template <template <class> class Organisation>
Json run(const SimulationConfig &config, const ReportProgress &progress) {
    Programs programs(config);
    SystemConfig system_config = config.system;
    system_config.organisation.cores = uint32_t(programs.threads());
    system_config.organisation.owners = &programs.owners();
    for (size_t thread = 0; thread < programs.threads(); thread++)
        system_config.translation.spaces.push_back(programs.program_of(thread));

    if (system_config.translation.recorded_pages)
        system_config.translation.pages.recorded = &programs;

    FramesConfig frames = config.frames;
    Organisation<Router<Memory>>::reserve(system_config.organisation, frames.node_bytes);
    Placement placement(
        frames, make_policy(config.placement, {config.placement_config, programs.owners(),
                                               uint32_t(config.tiers.size()), config.frames.seed}));
    std::vector<Memory> memories;
    memories.reserve(config.memories.size());
    for (const MemoryConfig &each : config.memories)
        memories.emplace_back(each);
    std::vector<TraceThread> sources = programs.sources(placement);

    RunSummary summary;
    summary.thread_cores = cores_of(programs.threads(), config);
    System<TraceThread, Organisation, Memory> system(system_config, placement, memories, sources,
                                                     summary.thread_cores);
    size_t stride = 1, calls = 0; // of the timeline's points
    system.run([&](uint64_t references, Ps time) {
        programs.check_threads();
        progress(references, time);
        if (calls++ % stride == 0)
            summary.timeline.push_back({references, time});
        if (summary.timeline.size() == 512) { // every other one goes
            for (size_t i = 0; i < 256; i++)
                summary.timeline[i] = summary.timeline[2 * i];
            summary.timeline.resize(256);
            stride *= 2;
        }
        if (config.limit && time >= config.limit)
            for (TraceThread &source : sources)
                source.stop();
    });

    summary.time = system.time();
    for (const auto &core : system.cores())
        summary.cores.push_back(core.statistics());
    summary.caches = system.caches();
    summary.placement = placement.statistics();
    summary.migrations = system.migrations();
    summary.policy = placement.policy_statistics();
    summary.requests = system.router().requests();
    summary.link_lines = system.links().lines();
    for (const TraceThread &each : sources) {
        summary.skipped += each.skipped();
        summary.budget_reached |= each.stopped();
    }
    summary.cut_off = programs.cut_off();
    for (uint32_t tier = 0; tier < config.tiers.size(); tier++) {
        summary.use.push_back(system.router().use(tier));
        summary.latency.push_back(system.router().latency(tier));
    }
    for (Memory &memory : memories)
        summary.memories.push_back(
            memory.statistics(std::max(summary.time, system.router().advanced())));
    summary.owners = programs.owners();
    for (size_t program = 0; program < programs.count(); program++)
        summary.first_owner.push_back(programs.first_owner(program));
    for (size_t thread = 0; thread < programs.threads(); thread++)
        summary.program_of.push_back(programs.program_of(thread));
    summary.organisation = system.organisation().statistics();
    summary.organisation["name"] = config.organisation;
    Json answer = answer_json(config, summary);
    if (system.walks())
        answer["translation"] = translation_json(system.walks()->translation(),
                                                 system.walks()->statistics(), summary.owners);
    return answer;
}

constexpr struct {
    const char *name;
    Json (*run)(const SimulationConfig &, const ReportProgress &);
    const char *options;
} organisations[] = {
    {"flat", run<Flat>, ""},
    {"memory-cache", run<MemoryCache>, "share lookup blocks"},
    {"alloy", run<Alloy>, "row_bytes predictor"},
    {"cameo", run<Cameo>, "prefetch predictor row_bytes entry_bytes split"},
    {"pom", run<Pom>, "threshold cache_bytes"},
    {"silc-fm", run<SilcFm>,
     "ways threshold aging split metadata metadata_memory counters lookup locking history"
     " predictor bypass plan sites"},
};

} // namespace

Json simulate(const SimulationConfig &config, const ReportProgress &progress) {
    std::string known;
    for (const auto &each : organisations) {
        if (config.organisation == each.name) {
            check_fields(config.system.organisation.options, "organisation", each.name,
                         each.options);
            return each.run(config, progress);
        }
        known += (known.empty() ? "" : ", ") + std::string(each.name);
    }
    throw ConfigError("no organisation '" + config.organisation + "': there are " + known);
}

} // namespace thermocline
