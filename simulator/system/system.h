// A whole machine that runs a trace: cores, caches, placement, organisation, memories, from
// event to event.  docs/simulator.md explains it.
#pragma once
#include "simulator/caches/hierarchy.h"
#include "simulator/caches/prefetcher.h"
#include "simulator/core/core.h"
#include "simulator/organisation/router.h"
#include "simulator/placement/placement.h"
#include "simulator/system/link.h"
#include "simulator/system/migrator.h"
#include "simulator/system/schedule.h"
#include "simulator/system/transfers.h"
#include "simulator/system/walks.h"
#include <optional>
#include <stdexcept>

namespace thermocline {

struct SystemConfig {
    CoreParameters core;
    uint32_t cores = 1, sockets = 1;
    std::vector<LevelConfig> levels;
    std::vector<Ps> latency; // of each level, from the load on
    PrefetcherConfig prefetcher;
    bool non_temporal_stores = false; // stores of whole lines go past the caches
    LinkParameters link;
    std::vector<NodeConfig> nodes; // tier * sockets + socket
    OrganisationConfig organisation;
    TranslationConfig translation;
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
          organisation_(config.organisation, router_),
          migrator_(placement, config.latency.back() + config.link.latency, sources.size()),
          threads_on_(cores), schedule_(uint32_t(sources.size())), next_(memories.size(), never),
          memory_level_(uint32_t(config.levels.size())) {
        found_.found.resize(memory_level_ + 1);
        for (uint32_t core : cores)
            socket_of_thread_.push_back(core / (config.cores / config.sockets));
        for (uint32_t node = 0; node < config.nodes.size(); node++)
            socket_of_node_.push_back(node % config.sockets);
        if (config.translation.on) {
            walks_.emplace(config.translation, config.latency, uint32_t(sources.size()), *this);
            hierarchy_.keep_translation(config.translation.options.value("keep", 0.0));
            placement.on_unmap([this](uint64_t address) { walks_->shoot_down(address); });
        }
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
            const Ps core = schedule_.first_time(), sent = router_.next(), moves = migrator_.next();
            const Ps others = std::min({core, sent, memory_next_});
            if (others == never && !migrating())
                break;
            now_ = std::min(others, moves);
            if (moves == now_) {
                migrator_.run(now_, *this);
            } else if (core == now_) {
                const uint32_t thread = schedule_.first();
                schedule_.set(thread, cores_[thread].run());
            } else if (sent == now_) {
                router_.run(now_, [&](uint32_t memory) { look_at(memory); });
            } else {
                const uint32_t memory = memory_first_;
                const Ps step =
                    router_.holds(memory) ? 1 : ahead; // what waits for room enters at once
                router_.advance(memory, std::min({core, sent, moves, now_ + step}),
                                [&](uint64_t token, Ps at) { completed(token, at); });
                look_at(memory);
            }
            if (config_.non_temporal_stores)
                router_.tell_taken([&](uint64_t token, Ps at) { completed(token, at); });
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
    const MigrationStatistics &migrations() const { return migrator_.statistics(); }
    const std::optional<Walks<System>> &walks() const { return walks_; }

    // --- What a core asks for (core.h). ---
    Ps horizon() const {
        return std::min({schedule_.second_time(), router_.next(), memory_next_, migrator_.next()});
    }
    // The line will be referred to soon: for the host's caches.
    void expect(uint32_t thread, uint64_t line) const {
        hierarchy_.expect(threads_on_[thread], line);
        placement_.expect(line * memory_line_bytes);
    }

    uint32_t translate(uint32_t thread, uint64_t line, const Reference &reference, Ps at) {
        if (!walks_)
            return none;
        return walks_->translate(thread, line * memory_line_bytes, reference.owner, at);
    }
    Ps translated(uint32_t translation, uint32_t, uint32_t place, Ps at) {
        return walks_->translated(translation, place, at);
    }

    Access access(uint32_t thread, uint64_t line, const Reference &reference, Ps at) {
        if (config_.non_temporal_stores && reference.store && covers(reference, line))
            return past_caches(thread, line, reference, at);
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

    // --- What walks ask for (walks.h). ---
    WalkReference walk_reference(uint32_t thread, uint32_t owner, uint64_t line, Via via, Ps at) {
        transfers_.settle(at);
        WalkReference made{memory_level_, none};
        if (via != Via::memory) {
            Writebacks writebacks;
            const uint32_t first = std::min(config_.translation.first_cache, memory_level_ - 1);
            made.level = hierarchy_.load(threads_on_[thread], first, line, owner, writebacks);
            write_back(thread, writebacks, at);
        }
        if (made.level < memory_level_ && via == Via::caches)
            made.transfer = transfers_.find(line);
        else
            made.transfer = transfers_.add(line, kept(thread, owner, line));
        if (made.transfer != none)
            transfers_[made.transfer].askers++;
        return made;
    }
    void store(uint32_t thread, uint32_t owner, uint64_t line, Ps at) {
        Demand demand = kept(thread, owner, line);
        demand.write = true;
        demand.purpose = Purpose::writeback;
        give(demand, line, at + config_.latency.back());
    }
    void translated(uint32_t thread, uint32_t place, Ps at) {
        cores_[thread].translated(place, at);
        schedule_.set(thread, std::min(schedule_.time(thread), now_));
    }

    // --- What moves pages asks for (migrator.h). ---
    void copy(const Demand &demand, Ps at) { organisation_.demand(demand, at); }
    void pause(Ps at, Ps length) {
        for (Core &core : cores_)
            core.pause(at, length);
    }
    void release(Demand demand, uint64_t line, Ps at) {
        const uint64_t address = line * memory_line_bytes;
        // Under faults it is made again, and counts where the page is now.
        const bool again = migrator_.faults() && !demand.write;
        const Place place = (again ? placement_.count(address) : placement_.look(address)).place;
        demand.node = place.node;
        demand.address = place.address;
        if (!demand.write)
            transfers_[uint32_t(demand.token)].demand = demand;
        hand(demand, at);
    }

  private:
    static bool covers(const Reference &reference, uint64_t line) {
        const uint64_t begin = line * memory_line_bytes;
        return reference.address <= begin &&
               reference.address + reference.bytes >= begin + memory_line_bytes;
    }
    // A write that the core holds a buffer for until its memory has taken it.
    Access past_caches(uint32_t thread, uint64_t line, const Reference &reference, Ps at) {
        transfers_.settle(at);
        Demand demand = this->demand(thread, line, reference.owner, reference.instruction);
        demand.write = true;
        demand.purpose = Purpose::writeback;
        const uint32_t transfer = transfers_.add(line, demand);
        transfers_[transfer].askers++;
        return {memory_level_, transfer};
    }
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
        return demand(thread, owner, instruction,
                      placement_.find(line * memory_line_bytes, owner, thread, socket(thread)));
    }
    Demand demand(uint32_t thread, uint32_t owner, uint32_t instruction, const Place &place) {
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
            const Place place = placement_.home_of_written(line.line() * memory_line_bytes,
                                                           line.owner(), thread, socket(thread));
            Demand demand = this->demand(thread, line.owner(), no_static, place);
            demand.write = true;
            demand.purpose = Purpose::writeback;
            give(demand, line.line(), at + config_.latency.back());
        }
    }

    // To the organisation, at the place where the line is by now; waits if its page is being moved.
    void give(Demand &demand, uint64_t line, Ps at) {
        const uint64_t address = line * memory_line_bytes;
        if (walks_ && Kept::holds(address)) [[unlikely]]
            return hand_kept(demand, at);
        if (migrator_.on() && placement_.touched(address)) [[unlikely]] {
            Placement::Where where =
                demand.write ? placement_.look(address) : placement_.count(address);
            if (placement_.reached())
                migrator_.wake(at);
            if (migrator_.faults() && faulted(demand, line, where, at))
                return;
            if (where.busy)
                return migrator_.hold(demand, line);
            demand.node = where.place.node;
            demand.address = where.place.address;
        }
        hand(demand, at);
    }
    // Whether it waits until its page is near.  Prefetches don't: the hardware drops those that
    // would fault, and here they read where the page is.
    bool faulted(const Demand &demand, uint64_t line, Placement::Where &where, Ps at) {
        const bool far = where.place.node >= config_.sockets;
        if (where.busy || !far || demand.write || demand.purpose != Purpose::demand)
            return false;
        const uint64_t page = line * memory_line_bytes / page_bytes;
        if (migrator_.warm(references())) {
            migrator_.bring_at_once(page, at);
            where = placement_.count(line * memory_line_bytes);
            return false;
        }
        migrator_.hold(demand, line);
        migrator_.fault(demand.core, page, at);
        return true;
    }
    void hand(const Demand &demand, Ps at) {
        const uint32_t from = socket(demand.core), to = socket_of_node_[demand.node];
        organisation_.demand(demand,
                             demand.write ? links_.carry(from, to, at) : links_.ask(from, to, at));
    }

    // What translation keeps to itself lies where no organisation knows of it.
    static constexpr unsigned kept_shift = 62; // tokens' highest bits are 1 for such
    Demand kept(uint32_t thread, uint32_t owner, uint64_t line) {
        const uint64_t address = line * memory_line_bytes;
        const bool buffer = address >= Kept::buffer;
        const KeptRegion &region = buffer ? config_.translation.buffer : config_.translation.tables;
        const uint64_t offset = address - (buffer ? Kept::buffer : Kept::first);
        if (offset >= region.bytes)
            throw ConfigError("page tables need more than the " + std::to_string(region.bytes) +
                              " bytes that are kept for them: give translation.tables more");
        return demand(thread, owner, no_static, {region.node, region.address + offset});
    }
    void hand_kept(const Demand &demand, Ps at) {
        const uint32_t from = socket(demand.core), to = socket_of_node_[demand.node];
        Send send{demand.node, demand.address};
        if (!demand.write)
            send.token = uint64_t(1) << kept_shift | demand.token;
        send.owner = demand.owner;
        send.write = demand.write;
        send.purpose = demand.purpose;
        router_.send(send, demand.write ? links_.carry(from, to, at) : links_.ask(from, to, at));
    }

    // Asks memory for a line, once.
    void send(uint32_t index, Ps at) {
        Transfer &transfer = transfers_[index];
        if (transfer.sent)
            return;
        transfer.sent = true;
        transfer.demand.token = index;
        give(transfer.demand, transfer.line, at + config_.latency.back());
    }

    void completed(uint64_t token, Ps at) {
        const bool kept = token >> kept_shift == 1;
        const Answer answer =
            kept ? Answer{uint32_t(token), at} : organisation_.completed(token, at);
        if (answer.token == nobody)
            return;
        if (answer.token & Migrator::token_bit)
            return migrator_.arrived(answer.token, answer.at, *this);
        const uint32_t index = uint32_t(answer.token);
        const Demand &demand = transfers_[index].demand;
        const uint32_t node = answer.node == demanded_node ? demand.node : answer.node;
        const uint32_t from = socket_of_node_[node], to = socket(demand.core);
        const Ps here = demand.write ? links_.ask(from, to, answer.at)
                                     : links_.carry(from, to, answer.at + config_.nodes[node].path);
        transfers_.arrives(index, here, [&](uint32_t thread, uint32_t fill) {
            if (fill & Walks<System>::waiter_bit)
                return walks_->arrived(fill & ~Walks<System>::waiter_bit, here);
            cores_[thread].arrived(fill, here);
            schedule_.set(thread, std::min(schedule_.time(thread), now_));
        });
    }

    // Nothing else is due: whether pages are on their way, or may still have to be.
    bool migrating() {
        if (migrator_.on() &&
            std::all_of(cores_.begin(), cores_.end(), [](Core &core) { return core.done(); }))
            migrator_.stop();
        return migrator_.active();
    }
    void look_at(uint32_t memory) {
        next_[memory] = memories_[memory].next();
        memory_first_ = 0;
        for (uint32_t each = 1; each < next_.size(); each++)
            if (next_[each] < next_[memory_first_])
                memory_first_ = each;
        memory_next_ = next_[memory_first_];
    }
    uint32_t socket(uint32_t thread) const { return socket_of_thread_[thread]; }
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
    Migrator migrator_;
    Transfers transfers_;
    std::vector<uint32_t> threads_on_, socket_of_thread_, socket_of_node_;
    Schedule schedule_;    // threads
    std::vector<Ps> next_; // of each memory
    uint32_t memory_first_ = 0;
    Ps memory_next_ = never;
    const uint32_t memory_level_;
    Ps now_ = 0;
    CacheStatistics found_;
    std::optional<Walks<System>> walks_; // address translation, if it is simulated
    std::vector<Core> cores_;
};

} // namespace thermocline
