#include "simulator/system/answer.h"
#include <cstdio>

namespace thermocline {

namespace {

using Json = nlohmann::json;

double seconds(Ps time) { return double(time) / 1e12; }

uint64_t sum(const std::array<uint64_t, purposes> &bytes) {
    uint64_t all = 0;
    for (uint64_t each : bytes)
        all += each;
    return all;
}

Json by_purpose(const TierUse &use) {
    static constexpr const char *names[purposes] = {"demand", "prefetch", "writeback", "migration"};
    Json all = Json::object();
    for (unsigned i = 0; i < purposes; i++)
        if (use.read[i] || use.write[i])
            all[names[i]] = {{"read_bytes", use.read[i]}, {"write_bytes", use.write[i]}};
    return all;
}

Json tiers_json(const SimulationConfig &config, const RunSummary &run, double &memory_joules) {
    Json tiers = Json::array();
    for (uint32_t tier = 0; tier < config.tiers.size(); tier++) {
        TierUse use;
        for (const TierUse &each : run.use[tier])
            for (unsigned i = 0; i < purposes; i++) {
                use.read[i] += each.read[i];
                use.write[i] += each.write[i];
            }
        const TierDevices devices = devices_of(config, run.memories, tier);
        const double joules = (devices.energy.total() + devices.link_pj) / 1e12;
        memory_joules += joules;
        const double bytes = double(sum(use.read) + sum(use.write));
        tiers.push_back(
            {{"name", config.tiers[tier].name},
             {"read_bytes", sum(use.read)},
             {"write_bytes", sum(use.write)},
             {"by_purpose", by_purpose(use)},
             {"bandwidth", run.time ? bytes / seconds(run.time) : 0.0},
             {"latency", latency_json(run.latency[tier])},
             {"row_hit_rate",
              devices.rows ? Json(double(devices.row_hits) / double(devices.rows)) : Json()},
             {"energy_joules", joules},
             {"resident_bytes", run.placement.most[tier] * page_bytes},
             {"spilled_bytes", run.placement.spilled[tier] * page_bytes}});
    }
    return tiers;
}

// Of what an organisation keeps in memories of its own.
double own_joules(const SimulationConfig &config, const RunSummary &run) {
    double picojoules = 0;
    for (size_t node = config.tiers.size() * config.system.sockets;
         node < config.system.nodes.size(); node++) {
        const Statistics &memory = run.memories[config.system.nodes[node].memory];
        picojoules += memory.dram.energy.total() + memory.link_pj;
    }
    return picojoules / 1e12;
}

Json sites_json(const SimulationConfig &config, const RunSummary &run) {
    Json sites = Json::array();
    uint32_t program = 0;
    for (uint32_t owner = 0; owner < run.owners.size(); owner++) {
        while (program + 1 < run.first_owner.size() && owner >= run.first_owner[program + 1])
            program++;
        Tick stall = 0;
        for (const CoreStatistics &core : run.cores)
            stall += owner < core.stall.size() ? core.stall[owner] : 0;
        Json tiers = Json::array();
        uint64_t bytes = 0;
        for (uint32_t tier = 0; tier < config.tiers.size(); tier++) {
            const TierUse use = owner < run.use[tier].size() ? run.use[tier][owner] : TierUse();
            tiers.push_back({{"read_bytes", sum(use.read)}, {"write_bytes", sum(use.write)}});
            bytes += sum(use.read) + sum(use.write);
        }
        if (stall || bytes)
            sites.push_back({{"key", run.owners[owner]},
                             {"program", program},
                             {"stall_seconds", seconds(stall / ticks_per_ps)},
                             {"tiers", std::move(tiers)}});
    }
    return sites;
}

// Each program by itself: sums over its threads, and over its owners.
Json programs_json(const SimulationConfig &config, const RunSummary &run) {
    Json programs = Json::array();
    for (uint32_t program = 0; program < run.first_owner.size(); program++) {
        Tick finish = 0, stall = 0;
        uint64_t instructions = 0, references = 0;
        Json threads = Json::array();
        for (size_t thread = 0; thread < run.cores.size(); thread++) {
            if (run.program_of[thread] != program)
                continue;
            const CoreStatistics &core = run.cores[thread];
            threads.push_back(thread);
            finish = std::max(finish, core.finish);
            instructions += core.instructions;
            references += core.references;
            for (Tick each : core.stall)
                stall += each;
        }
        const size_t end =
            program + 1 < run.first_owner.size() ? run.first_owner[program + 1] : run.owners.size();
        Json tiers = Json::array();
        for (const std::vector<TierUse> &use : run.use) {
            uint64_t read = 0, write = 0;
            for (size_t owner = run.first_owner[program]; owner < std::min(end, use.size());
                 owner++) {
                read += sum(use[owner].read);
                write += sum(use[owner].write);
            }
            tiers.push_back({{"read_bytes", read}, {"write_bytes", write}});
        }
        const double time = seconds(ceil_ps(finish));
        programs.push_back(
            {{"threads", std::move(threads)},
             {"seconds", time},
             {"instructions", instructions},
             {"references", references},
             {"instructions_per_cycle",
              time > 0 ? double(instructions) / (time * config.system.core.hertz) : 0.0},
             {"stall_seconds", seconds(stall / ticks_per_ps)},
             {"tiers", std::move(tiers)}});
    }
    return programs;
}

Json placement_json(const SimulationConfig &config, const MigrationStatistics &migrations,
                    const Json &policy) {
    Json json = {{"name", config.placement}};
    if (!policy.is_null())
        json["policy"] = policy;
    if (migrations.migrates)
        json["migration"] = {{"epoch_seconds", seconds(migrations.epoch)},
                             {"epochs", migrations.epochs},
                             {"operations", migrations.operations},
                             {"moved_bytes", migrations.pages * page_bytes},
                             {"refused_operations", migrations.refused},
                             {"forgotten_operations", migrations.forgotten},
                             {"held_requests", migrations.held},
                             {"pause_seconds", seconds(migrations.paused)},
                             {"serving_seconds", seconds(migrations.serving)}};
    return json;
}

std::string migration_note(const SimulationConfig &config, const MigrationStatistics &run) {
    char text[100];
    std::snprintf(text, sizeof text, ": %.3g MiB moved",
                  double(run.pages * page_bytes) / (1 << 20));
    std::string note = config.placement + text;
    if (run.epoch > 0) {
        std::snprintf(text, sizeof text, " at the ends of %llu epochs of %.3g ms",
                      static_cast<unsigned long long>(run.epochs), seconds(run.epoch) * 1e3);
        note += text;
    }
    return note;
}

} // namespace

Json latency_json(const Histogram &histogram) {
    uint64_t count = 0;
    for (uint64_t each : histogram.counts())
        count += each;
    Json json = {{"count", count}};
    if (count == 0)
        return json;
    json["mean_ns"] = double(histogram.sum()) / double(count) / 1e3;
    json["max_ns"] = double(histogram.greatest()) / 1e3;
    // The bucket that holds the percentile, by its least time: an eighth too low at most.
    for (const auto &[name, share] :
         {std::pair{"p50_ns", 0.5}, {"p90_ns", 0.9}, {"p99_ns", 0.99}}) {
        uint64_t below = 0;
        unsigned bucket = 0;
        while (double(below + histogram.counts()[bucket]) < share * double(count))
            below += histogram.counts()[bucket++];
        json[name] = double(Histogram::from(bucket)) / 1e3;
    }
    return json;
}

TierDevices devices_of(const SimulationConfig &config, const std::vector<Statistics> &memories,
                       uint32_t tier) {
    TierDevices sum;
    for (uint32_t socket = 0; socket < config.system.sockets; socket++) {
        const uint32_t node = tier * config.system.sockets + socket;
        const Statistics &memory = memories[config.system.nodes[node].memory];
        const PartStatistics &part = config.tiers[tier].nvm ? memory.nvm : memory.dram;
        if (config.tiers[tier].nvm) {
            sum.row_hits += memory.buffer_hits;
            sum.rows += memory.buffer_hits + memory.media_reads;
        } else {
            sum.row_hits += memory.row_hits;
            sum.rows += memory.row_hits + memory.row_misses + memory.row_conflicts;
            sum.link_pj += memory.link_pj;
        }
        sum.bus_busy += part.bus_busy;
        sum.energy.activate += part.energy.activate;
        sum.energy.read += part.energy.read;
        sum.energy.write += part.energy.write;
        sum.energy.refresh += part.energy.refresh;
        sum.energy.background += part.energy.background;
        sum.energy.fixed += part.energy.fixed;
    }
    return sum;
}

Json answer_json(const SimulationConfig &config, const RunSummary &run) {
    uint64_t instructions = 0, references = 0;
    Json threads = Json::array();
    for (size_t thread = 0; thread < run.cores.size(); thread++) {
        const CoreStatistics &core = run.cores[thread];
        const double finish = seconds(ceil_ps(core.finish));
        instructions += core.instructions;
        references += core.references;
        threads.push_back(
            {{"core", run.thread_cores[thread]},
             {"instructions", core.instructions},
             {"seconds", finish},
             {"instructions_per_cycle",
              finish > 0 ? double(core.instructions) / (finish * config.system.core.hertz) : 0.0}});
    }
    const double time = seconds(run.time);
    double memory_joules = 0;
    Json tiers = tiers_json(config, run, memory_joules);
    memory_joules += own_joules(config, run);
    const double core_joules = config.core_watts * double(run.cores.size()) * time;
    Json timeline = Json::array();
    for (const auto &[references, at] : run.timeline)
        timeline.push_back({references, seconds(at)});
    Json notes = Json::array();
    if (run.cut_off)
        notes.push_back("the trace was cut off: what follows its last whole chunk is missing");
    if (run.budget_reached)
        notes.push_back(config.limit && run.time >= config.limit
                            ? "the limit of time was reached before the trace's end"
                            : "the budget of references was reached before the trace's end");
    if (run.migrations.migrates)
        notes.push_back(migration_note(config, run.migrations));
    if (config.memories[0].fidelity == Fidelity::screening)
        notes.push_back("screening fidelity: memory timing is approximate");
    return {{"format", "thermocline-simulation"},
            {"version", 1},
            {"seconds", time},
            {"timeline", std::move(timeline)},
            {"instructions", instructions},
            {"unrecorded_instructions", run.skipped},
            {"references", references},
            {"instructions_per_cycle",
             time > 0 ? double(instructions) / (time * config.system.core.hertz) : 0.0},
            {"threads", std::move(threads)},
            {"programs", programs_json(config, run)},
            {"lines_found", run.caches.found},
            {"prefetches", run.caches.prefetches},
            {"device_requests", run.requests},
            {"remote_lines", run.link_lines},
            {"tiers", std::move(tiers)},
            {"sites", sites_json(config, run)},
            {"placement", placement_json(config, run.migrations, run.policy)},
            {"organisation", run.organisation},
            {"energy",
             {{"memory_joules", memory_joules},
              {"core_joules", core_joules},
              {"joules", memory_joules + core_joules},
              {"energy_delay", (memory_joules + core_joules) * time}}},
            {"notes", std::move(notes)}};
}

} // namespace thermocline
