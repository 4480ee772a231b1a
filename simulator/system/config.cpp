// Reads a simulation's configuration.  The Python side writes it from a machine file, so that
// complaints here are short: which field, and what is wrong with it.
#include "simulator/system/json_object.h"
#include "simulator/system/simulation.h"
#include <set>

namespace thermocline {

namespace {

constexpr uint64_t max_cores = 4096;
constexpr Ps max_ps = 1'000'000'000; // a millisecond

void read_cpu(Object cpu, SimulationConfig &config) {
    CoreParameters &core = config.system.core;
    core.hertz = cpu.real("hertz", 1e6, 1e11);
    core.width = uint32_t(cpu.number("width", 1, 64));
    core.window = uint32_t(cpu.number("window", 1, 1 << 16));
    core.outstanding = uint32_t(cpu.number("outstanding", 1, 1 << 12));
    core.store_buffer = uint32_t(cpu.number("store_buffer", 1, 1 << 12));
    if (cpu.find("non_temporal_stores"))
        config.system.non_temporal_stores = cpu.flag("non_temporal_stores");
    config.system.cores = uint32_t(cpu.number("cores", 1, max_cores));
    config.system.sockets = uint32_t(cpu.number_or("sockets", 1, 1, 64));
    if (config.system.cores % config.system.sockets)
        cpu.fail("cores", "can't be shared out evenly among the sockets");
    config.core_watts = cpu.find("core_watts") ? cpu.real("core_watts", 0, 1e4) : 0;
    config.system.link.latency = cpu.number_or("remote_ps", 0, 0, max_ps);
    if (cpu.find("link_bandwidth"))
        config.system.link.bandwidth = cpu.real("link_bandwidth", 0, 1e15);
    cpu.finish();
}

void read_cache(Object cache, SimulationConfig &config) {
    LevelConfig level;
    level.geometry.bytes = cache.number("bytes", 64, uint64_t(1) << 32);
    level.geometry.ways = uint32_t(cache.number("ways", 1, 1024));
    if (cache.number("line", 1, 4096) != memory_line_bytes)
        cache.fail("line", "must be 64: the simulator's lines are");
    level.shared_by = uint32_t(cache.number("shared_by", 1, max_cores));
    level.geometry.shared = level.shared_by > 1;
    if (!level.geometry.valid())
        cache.fail("bytes", "is no multiple of ways times line");
    const Ps latency = cache.number("latency_ps", 1, max_ps);
    if (!config.system.latency.empty() && latency < config.system.latency.back())
        cache.fail("latency_ps", "is less than that of the level before");
    config.system.levels.push_back(level);
    config.system.latency.push_back(latency);
    cache.finish();
}

void read_prefetcher(Object json, PrefetcherConfig &prefetcher) {
    prefetcher.on = json.flag("on");
    prefetcher.streams = uint32_t(json.number_or("streams", prefetcher.streams, 1, 256));
    prefetcher.distance = uint32_t(json.number_or("distance", prefetcher.distance, 1, 64));
    prefetcher.degree = uint32_t(json.number_or("degree", prefetcher.degree, 1, 64));
    prefetcher.confidence = uint32_t(json.number_or("confidence", prefetcher.confidence, 1, 64));
    json.finish();
}

void read_tier(Object tier, SimulationConfig &config) {
    config.tiers.push_back({tier.text("name"), tier.flag("nvm")});
    const Ps path = tier.number_or("path_ps", 0, 0, max_ps);
    const uint32_t sockets = config.system.sockets;
    for (const Json &json : tier.list("nodes", sockets, sockets)) {
        Object node(json, "tiers.nodes");
        NodeConfig made;
        made.memory = uint32_t(node.number("memory", 0, config.memories.size() - 1));
        made.base = node.number_or("base", 0, 0, uint64_t(1) << 60);
        made.path = path;
        config.system.nodes.push_back(made);
        config.frames.node_bytes.push_back(node.number("bytes", page_bytes, uint64_t(1) << 50) /
                                           page_bytes * page_bytes);
        node.finish();
    }
    tier.finish();
}

} // namespace

Region parse_region(const Json &all) {
    Object json(all, "region");
    Region region;
    if (json.find("function"))
        region.function = json.text("function");
    region.from_ns = json.number_or("from_ns", 0, 0, UINT64_MAX);
    region.to_ns = json.number_or("to_ns", UINT64_MAX, 0, UINT64_MAX);
    region.first_window = uint32_t(json.number_or("first_window", 0, 0, UINT32_MAX));
    region.last_window = uint32_t(json.number_or("last_window", UINT32_MAX, 0, UINT32_MAX));
    json.finish();
    return region;
}

static void read_traces(Object &all, SimulationConfig &config) {
    const Json *threads = all.find("threads");
    if (!all.find("traces")) {
        config.traces.push_back(all.text("trace"));
        config.threads.push_back(uint32_t(all.number_or("threads", 0, 0, max_cores)));
        return;
    }
    if (all.find("trace"))
        all.fail("trace", "and traces are both there: give one");
    for (const Json &trace : all.list("traces", 1, max_cores)) {
        if (!trace.is_string())
            all.fail("traces", "must be strings");
        config.traces.push_back(trace.get<std::string>());
    }
    if (!threads)
        return;
    for (const Json &each : all.list("threads", config.traces.size(), config.traces.size())) {
        if (!each.is_number_unsigned() || each.get<uint64_t>() > max_cores)
            all.fail("threads", "must be whole numbers, one for each of traces");
        config.threads.push_back(each.get<uint32_t>());
    }
}

SimulationConfig parse_simulation(const Json &json) {
    SimulationConfig config;
    Object all(json, "");
    read_traces(all, config);
    if (const Json *region = all.find("region"))
        config.region = parse_region(*region);
    config.skip = all.number_or("skip", 0, 0, UINT64_MAX);
    config.budget = all.number_or("budget", 0, 0, UINT64_MAX);
    config.limit = all.number_or("limit_ps", 0, 0, UINT64_MAX / 2);
    read_cpu(Object(all.at("cpu"), "cpu"), config);
    if (all.find("thread_cores"))
        for (const Json &core : all.list("thread_cores", 1, config.system.cores)) {
            if (!core.is_number_unsigned() || core.get<uint64_t>() >= config.system.cores)
                all.fail("thread_cores", "must name cores, from 0 on");
            config.cores.push_back(core.get<uint32_t>());
        }
    if (std::set<uint32_t>(config.cores.begin(), config.cores.end()).size() != config.cores.size())
        all.fail("thread_cores", "names a core twice");
    for (const Json &cache : all.list("caches", 1, Hierarchy::max_levels))
        read_cache(Object(cache, "caches"), config);
    if (const Json *prefetcher = all.find("prefetcher"))
        read_prefetcher(Object(*prefetcher, "prefetcher"), config.system.prefetcher);
    for (const Json &memory : all.list("memories", 1, 64))
        config.memories.push_back(parse_memory(memory));
    for (const Json &tier : all.list("tiers", 1, 8))
        read_tier(Object(tier, "tiers"), config);
    config.frames.sockets = config.system.sockets;
    config.frames.seed = all.number_or("seed", 0, 0, UINT64_MAX);
    config.frames.contiguous_pages = all.number_or("contiguous_pages", 16, 1, 1 << 20);
    config.placement_config = all.at("placement");
    Object placement(config.placement_config, "placement");
    config.placement = placement.text("name");
    if (const Json *socket = placement.find("socket"))
        config.frames.socket =
            *socket == "in-turn"
                ? in_turn
                : uint32_t(placement.number("socket", 0, config.system.sockets - 1));
    OrganisationConfig &organisation = config.system.organisation;
    organisation.options = all.at("organisation");
    Object named(organisation.options, "organisation");
    config.organisation = named.text("name");
    if (config.system.non_temporal_stores && config.organisation != "flat" &&
        config.organisation != "memory-cache")
        named.fail("name", "can't be with cpu.non_temporal_stores: flat and memory-cache can");
    organisation.sockets = config.system.sockets;
    organisation.node_bytes = config.frames.node_bytes;
    if (named.find("metadata_memory")) {
        const uint64_t first =
            named.number("metadata_memory", 0, config.memories.size() - config.system.sockets);
        for (uint32_t socket = 0; socket < config.system.sockets; socket++)
            config.system.nodes.push_back({uint32_t(first + socket), 0, 0});
        organisation.own_nodes = true;
    }
    if (const Json *translation = all.find("translation"))
        config.system.translation = parse_translation(*translation, config);
    all.finish();
    return config;
}

} // namespace thermocline
