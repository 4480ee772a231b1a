// A whole machine that runs a trace: cores, caches, placement, organisation, memories, from
// event to event.  docs/simulator.md explains it.
#pragma once
#include "simulator/caches/hierarchy.h"
#include "simulator/caches/prefetcher.h"
#include "simulator/core/core.h"
#include "simulator/organisation/router.h"
#include "simulator/placement/placement.h"
#include "simulator/system/link.h"
#include "simulator/system/schedule.h"
#include "simulator/system/transfers.h"
#include <stdexcept>

namespace thermocline {

struct SystemConfig {
    CoreParameters core;
    uint32_t cores = 1, sockets = 1;
    std::vector<LevelConfig> levels;
    std::vector<Ps> latency; // of each level, from the load on
    PrefetcherConfig prefetcher;
    LinkParameters link;
    std::vector<NodeConfig> nodes; // tier * sockets + socket
    OrganisationConfig organisation;
};

struct CacheStatistics {
    uint64_t prefetches = 0;
    std::vector<uint64_t> found; // references' lines by the level that had them; last: memory
};

template <class Source, template <class> class Organisation, class Memory> class System {
    using Router = thermocline::Router<Memory>;
    using Core = thermocline::Core<Source, System>;

  public:
    // One source for each thread; thread i runs on cores[i].
    System(const SystemConfig &config, Placement &placement, std::vector<Memory> &memories,
           std::vector<Source> &sources, const std::vector<uint32_t> &cores)
        : config_(config), memories_(memories), hierarchy_(config.levels, config.cores),
          prefetchers_(sources.size(), Prefetcher(prefetching(config))), placement_(placement),
          links_(config.link, config.sockets), router_(config.nodes, memories, config.sockets),
          organisation_(config.organisation, router_), threads_on_(cores),
          schedule_(uint32_t(sources.size())), next_(memories.size(), never),
          memory_level_(uint32_t(config.levels.size())) {
        found_.found.resize(memory_level_ + 1);
        cores_.reserve(sources.size());
        for (uint32_t thread = 0; thread < sources.size(); thread++) {
            cores_.emplace_back(thread, config.core, config.latency, sources[thread], *this);
            schedule_.set(thread, 0);
        }
    }
    System(const System &) = delete;

    // Runs to the end; progress(references, Ps) is called now and then.
    template <class Progress> void run(const Progress &progress) {
        // What a core or an organisation makes of an event in a memory reaches a memory no sooner
        // than that, so that memories can go ahead by so much at a time.
        const Ps ahead = std::max<Ps>(config_.latency.back(), 1);
        for (uint64_t events = 1;; events++) {
            const Ps core = schedule_.first_time(), sent = router_.next();
            now_ = std::min({core, sent, memory_next_});
            if (now_ == never)
                break;
            if (core == now_) {
                const uint32_t thread = schedule_.first();
                schedule_.set(thread, cores_[thread].run());
            } else if (sent == now_) {
                router_.run(now_, [&](uint32_t memory) { look_at(memory); });
            } else {
                const uint32_t memory = memory_first_;
                const Ps step =
                    router_.holds(memory) ? 1 : ahead; // what waits for room enters at once
                router_.advance(memory, std::min({core, sent, now_ + step}),
                                [&](uint64_t token, Ps at) { completed(token, at); });
                look_at(memory);
            }
            if (events % 65536 == 0)
                progress(references(), now_);
        }
        for (Core &core : cores_)
            if (!core.done() || !router_.quiet())
                throw std::logic_error("the simulation stopped before its program's end");
        progress(references(), time());
    }

    Ps time() const {
        Tick last = 0;
        for (const Core &core : cores_)
            last = std::max(last, core.statistics().finish);
        return ceil_ps(last);
    }
    const std::vector<Core> &cores() const { return cores_; }
    const Router &router() const { return router_; }
    const Organisation<Router> &organisation() const { return organisation_; }
    const CacheStatistics &caches() const { return found_; }
    const Links &links() const { return links_; }

    // --- What a core asks for (core.h). ---
    Ps horizon() const { return std::min({schedule_.second_time(), router_.next(), memory_next_}); }
    // The line will be referred to soon: for the host's caches.
    void expect(uint32_t thread, uint64_t line) const {
        hierarchy_.expect(threads_on_[thread], line);
        placement_.expect(line * memory_line_bytes);
    }

    Access access(uint32_t thread, uint64_t line, const Reference &reference, Ps at) {
        Writebacks writebacks;
        const uint32_t core = threads_on_[thread];
        const uint32_t level =
            hierarchy_.refer(core, line, reference.store, reference.owner, writebacks);
        found_.found[level]++;
        if (level == 0)
            return {};
        return missed(thread, line, reference, level, writebacks, at);
    }

    Ps request(uint32_t transfer, uint32_t thread, uint32_t fill, Ps at) {
        send(transfer, at);
        const Ps arrival = transfers_[transfer].arrival;
        if (arrival == never)
            transfers_.wait(transfer, thread, fill);
        transfers_.asked(transfer);
        return arrival;
    }
    void abandon(uint32_t transfer, Ps at) {
        transfers_.asked(transfer);
        if (transfers_.orphan(transfer))
            send(transfer, at); // the caches' contents say that it is read
    }

  private:
    Access missed(uint32_t thread, uint64_t line, const Reference &reference, uint32_t level,
                  const Writebacks &writebacks, Ps at) {
        transfers_.settle(at);
        Access access{level, none};
        if (level == memory_level_) {
            access.below =
                transfers_.add(line, demand(thread, line, reference.owner, reference.instruction));
            transfers_[access.below].askers++;
        } else {
            access.below = transfers_.find(line);
            if (access.below != none)
                transfers_[access.below].askers++;
        }
        write_back(thread, writebacks, at);
        prefetchers_[thread].train(line, [&](uint64_t ahead) {
            Writebacks displaced;
            const uint32_t found =
                hierarchy_.prefetch(threads_on_[thread], 1, ahead, reference.owner, displaced);
            if (found == memory_level_) {
                Demand demand = this->demand(thread, ahead, reference.owner, reference.instruction);
                demand.purpose = Purpose::prefetch;
                send(transfers_.add(ahead, demand), at);
                found_.prefetches++;
            }
            write_back(thread, displaced, at);
        });
        return access;
    }

    // It fetches into the second level: without one there is none.
    static PrefetcherConfig prefetching(const SystemConfig &config) {
        PrefetcherConfig prefetcher = config.prefetcher;
        prefetcher.on &= config.levels.size() > 1;
        return prefetcher;
    }

    Demand demand(uint32_t thread, uint64_t line, uint32_t owner, uint32_t instruction) {
        const Place place =
            placement_.find(line * memory_line_bytes, owner, thread, socket(thread));
        Demand demand;
        demand.node = place.node;
        demand.address = place.address;
        demand.owner = owner;
        demand.core = thread;
        demand.instruction = instruction;
        return demand;
    }

    void write_back(uint32_t thread, const Writebacks &writebacks, Ps at) {
        for (uint32_t i = 0; i < writebacks.count; i++) {
            const CacheLine line = writebacks.line[i];
            Demand demand = this->demand(thread, line.line(), line.owner(), no_static);
            demand.write = true;
            demand.purpose = Purpose::writeback;
            const uint32_t from = socket(thread), to = demand.node % config_.sockets;
            organisation_.demand(demand, links_.carry(from, to, at + config_.latency.back()));
        }
    }

    // Asks memory for a line, once.
    void send(uint32_t index, Ps at) {
        Transfer &transfer = transfers_[index];
        if (transfer.sent)
            return;
        transfer.sent = true;
        transfer.demand.token = index;
        const uint32_t from = socket(transfer.demand.core);
        const uint32_t to = transfer.demand.node % config_.sockets;
        organisation_.demand(transfer.demand, links_.ask(from, to, at + config_.latency.back()));
    }

    void completed(uint64_t token, Ps at) {
        const Answer answer = organisation_.completed(token, at);
        if (answer.token == nobody)
            return;
        const uint32_t index = uint32_t(answer.token);
        const Demand &demand = transfers_[index].demand;
        const uint32_t node = answer.node == demanded_node ? demand.node : answer.node;
        const Ps here = links_.carry(node % config_.sockets, socket(demand.core),
                                     answer.at + config_.nodes[node].path);
        transfers_.arrives(index, here, [&](uint32_t thread, uint32_t fill) {
            cores_[thread].arrived(fill, here);
            schedule_.set(thread, std::min(schedule_.time(thread), now_));
        });
    }

    void look_at(uint32_t memory) {
        next_[memory] = memories_[memory].next();
        memory_first_ = 0;
        for (uint32_t each = 1; each < next_.size(); each++)
            if (next_[each] < next_[memory_first_])
                memory_first_ = each;
        memory_next_ = next_[memory_first_];
    }
    uint32_t socket(uint32_t thread) const {
        return threads_on_[thread] / (config_.cores / config_.sockets);
    }
    uint64_t references() const {
        uint64_t sum = 0;
        for (const Core &core : cores_)
            sum += core.statistics().references;
        return sum;
    }

    const SystemConfig config_;
    std::vector<Memory> &memories_;
    Hierarchy hierarchy_;
    std::vector<Prefetcher> prefetchers_;
    Placement &placement_;
    Links links_;
    Router router_;
    Organisation<Router> organisation_;
    Transfers transfers_;
    std::vector<uint32_t> threads_on_;
    Schedule schedule_;    // threads
    std::vector<Ps> next_; // of each memory
    uint32_t memory_first_ = 0;
    Ps memory_next_ = never;
    const uint32_t memory_level_;
    Ps now_ = 0;
    CacheStatistics found_;
    std::vector<Core> cores_;
};

} // namespace thermocline
