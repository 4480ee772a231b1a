// A small machine for tests: references from a list, a memory of fixed latency and bandwidth.
#pragma once
#include "simulator/memory/config.h"
#include "simulator/organisation/flat.h"
#include "simulator/system/system.h"
#include <nlohmann/json.hpp>

namespace thermocline {

// Each request takes `gap` of the one bus, and reads come back after `latency`.
class FixedMemory {
  public:
    FixedMemory(Ps latency, Ps gap, uint32_t queue = 1u << 30)
        : latency_(latency), gap_(gap), queue_(queue) {}

    uint32_t queues() const { return 1; }
    uint32_t queue(const Request &) const { return 0; }
    bool accepts(const Request &) const { return waiting_.size() - head_ < queue_; }
    void push(const Request &request) {
        if (request.arrival < advanced_)
            throw std::logic_error("a request that arrives in the past");
        waiting_.push_back(request);
        seen.push_back(request);
    }
    Ps next() const { return head_ == waiting_.size() ? never : start(); }
    void advance(Ps until, std::vector<Completion> &done) {
        while (head_ < waiting_.size() && start() < until) {
            const Request &request = waiting_[head_];
            const Ps at = start();
            free_ = at + gap_;
            done.push_back({request.token, at + (request.write ? 0 : latency_)});
            head_++;
        }
        advanced_ = std::max(advanced_, until);
    }

    std::vector<Request> seen;

  private:
    Ps start() const { return std::max(waiting_[head_].arrival, free_); }
    const Ps latency_, gap_;
    const size_t queue_;
    std::vector<Request> waiting_;
    size_t head_ = 0;
    Ps free_ = 0, advanced_ = 0;
};

struct ListedReference {
    Reference reference;
    std::vector<uint32_t> producers; // distances
};

inline ListedReference load(uint64_t address, uint32_t gap = 0,
                            std::vector<uint32_t> producers = {}, uint32_t owner = 0) {
    Reference reference;
    reference.address = address;
    reference.gap = gap;
    reference.bytes = 8;
    reference.owner = owner;
    return {reference, std::move(producers)};
}
inline ListedReference store(uint64_t address, uint32_t gap = 0,
                             std::vector<uint32_t> producers = {}, uint32_t owner = 0) {
    ListedReference made = load(address, gap, std::move(producers), owner);
    made.reference.store = true;
    return made;
}

class ListSource {
  public:
    explicit ListSource(std::vector<ListedReference> list) : list_(std::move(list)) {}
    bool next(Reference &reference, Producers &producers) {
        if (at_ == list_.size())
            return false;
        reference = list_[at_].reference;
        producers.count = 0;
        for (uint32_t each : list_[at_].producers)
            producers.distance[producers.count++] = each;
        at_++;
        return true;
    }

  private:
    std::vector<ListedReference> list_;
    size_t at_ = 0;
};

struct TestMachine {
    static constexpr uint64_t tier_bytes = uint64_t(64) << 20;

    SystemConfig config;
    std::vector<uint64_t> node_bytes = {tier_bytes};
    Ps memory_latency = 100'000, memory_gap = 0;
    uint32_t queue = 1u << 30;
    std::string policy = "one-tier";
    nlohmann::json policy_config = nlohmann::json::object();
    std::vector<std::string> owners = {"a", "b", "c", "(stack)"};

    TestMachine() {
        config.core.hertz = 1e9; // a cycle is 1000 ps
        config.core.width = 4;
        config.core.window = 128;
        config.core.outstanding = 16;
        config.core.store_buffer = 32;
        config.levels = {{{4096, 4, 64, false}, 1}, {{32768, 8, 64, false}, 1}};
        config.latency = {4000, 12000};
        config.prefetcher.on = false;
    }

    // The rest of the configuration, from what is set above.
    void finish(size_t threads) {
        config.nodes.clear();
        for (uint32_t node = 0; node < node_bytes.size(); node++)
            config.nodes.push_back({node, 0, 0});
        config.organisation.sockets = config.sockets;
        config.organisation.cores = uint32_t(threads);
        config.organisation.node_bytes = node_bytes;
        config.cores = std::max(config.cores, uint32_t(threads));
    }
};

// Runs it; `look` sees the system and the memories before they are gone.
template <template <class> class Organisation = Flat, class Look>
void run_with(TestMachine machine, std::unique_ptr<PlacementPolicy> policy,
              std::vector<FixedMemory> memories, std::vector<std::vector<ListedReference>> threads,
              Look look) {
    machine.finish(threads.size());
    FramesConfig frames;
    frames.sockets = machine.config.sockets;
    frames.node_bytes = machine.node_bytes;
    using Organised = Organisation<Router<FixedMemory>>;
    Organised::reserve(machine.config.organisation, frames.node_bytes);
    Placement placement(frames, std::move(policy));
    std::vector<ListSource> sources;
    std::vector<uint32_t> cores;
    for (auto &thread : threads) {
        cores.push_back(uint32_t(cores.size()));
        sources.emplace_back(std::move(thread));
    }
    System<ListSource, Organisation, FixedMemory> system(machine.config, placement, memories,
                                                         sources, cores);
    system.run([](uint64_t, Ps) {});
    look(system, memories, placement);
}

// The same with the machine's policy, and memories that are alike.
template <template <class> class Organisation = Flat, class Look>
void run(const TestMachine &machine, std::vector<std::vector<ListedReference>> threads, Look look) {
    const uint32_t tiers = uint32_t(machine.node_bytes.size()) / machine.config.sockets;
    auto policy = make_policy(machine.policy, {machine.policy_config, machine.owners, tiers, 0});
    const FixedMemory memory(machine.memory_latency, machine.memory_gap, machine.queue);
    const std::vector<FixedMemory> memories(machine.node_bytes.size(), memory);
    run_with<Organisation>(machine, std::move(policy), memories, std::move(threads), look);
}

inline Ps time_of(const TestMachine &machine, std::vector<ListedReference> references) {
    Ps time = 0;
    run(machine, {std::move(references)},
        [&](auto &system, auto &, auto &) { time = system.time(); });
    return time;
}

} // namespace thermocline
