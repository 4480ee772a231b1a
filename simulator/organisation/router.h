// The way from organisations to devices: requests wait for their time, then for room in the
// channel that they go to, in order; every one is counted by tier, owner and purpose.
#pragma once
#include "simulator/memory/statistics.h"
#include "simulator/organisation/demand.h"
#include <algorithm>
#include <array>

namespace thermocline {

struct NodeConfig {
    uint32_t memory = 0; // whose addresses from `base` on are the node's
    uint64_t base = 0;
    Ps path = 0; // what the way from the caches to the device and back adds to a read
};

// Bytes, by purpose.
struct TierUse {
    std::array<uint64_t, purposes> read{}, write{};
};

template <class Memory> class Router {
  public:
    Router(std::vector<NodeConfig> nodes, std::vector<Memory> &memories, uint32_t sockets)
        : nodes_(std::move(nodes)), memories_(memories), sockets_(sockets), held_(memories.size()),
          full_(memories.size()), advanced_(memories.size(), 0), latency_(tiers()), use_(tiers()) {
        for (uint32_t node = 0; node < nodes_.size(); node++)
            tier_.push_back(node / sockets);
        for (size_t memory = 0; memory < memories.size(); memory++)
            held_[memory].resize(memories[memory].queues());
    }

    uint32_t tiers() const { return uint32_t(nodes_.size()) / sockets_; }

    // Sends a request, which reaches its memory at that time or, if that has no room, later.
    void send(const Send &send, Ps at) {
        later_.push_back({at, order_++, add(send, at)});
        std::push_heap(later_.begin(), later_.end(), std::greater<>());
        if (!send.write)
            reads_++;
        std::vector<TierUse> &use = use_[tier_[send.node]];
        if (send.owner >= use.size())
            use.resize(send.owner + 1);
        TierUse &mine = use[send.owner];
        (send.write ? mine.write : mine.read)[unsigned(send.purpose)] += send.bytes;
    }

    Ps next() const { return later_.empty() ? never : later_.front().at; }
    bool holds(uint32_t memory) const { return !full_[memory].empty(); }
    bool quiet() const { return reads_ == 0 && later_.empty() && waiting_ == 0 && taken_.empty(); }

    // Writes that somebody waits for, and that their memories have taken: done(token, at).
    template <class Done> void tell_taken(Done done) {
        for (size_t each = 0; each < taken_.size(); each++)
            done(taken_[each].token, taken_[each].at);
        taken_.clear();
    }

    // Hands on all whose time has come; calls changed(memory) for each memory that got some.
    template <class Changed> void run(Ps now, Changed changed) {
        while (!later_.empty() && later_.front().at <= now) {
            std::pop_heap(later_.begin(), later_.end(), std::greater<>());
            const uint32_t request = later_.back().request;
            later_.pop_back();
            const uint32_t memory = nodes_[under_[request].send.node].memory;
            const Request offered = made(request);
            if (!waits_behind(memory, offered) && offer(memory, offered, request, now))
                changed(memory);
            else
                hold(memory, memories_[memory].queue(offered), request);
        }
    }

    // The memory does what it does before `until`; calls done(token, at) for each read of which
    // the data have come.
    template <class Done> void advance(uint32_t memory, Ps until, Done done) {
        memories_[memory].advance(until, completions_);
        advanced_[memory] = until;
        for (const Completion &each : completions_) {
            if (each.token == nobody)
                continue; // a write
            const Under &under = under_[each.token];
            latency_[tier_[under.send.node]].add(each.at - under.at);
            const uint64_t token = under.send.token;
            free_.push_back(uint32_t(each.token));
            reads_--;
            done(token, each.at);
        }
        completions_.clear();
        std::erase_if(full_[memory], [&](uint32_t queue) {
            Held &held = held_[memory][queue];
            while (!held.empty() && offer(memory, made(held.front()), held.front(), until)) {
                held.pop();
                waiting_--;
            }
            return held.empty();
        });
    }

    // All memories have been advanced to this, at most.
    Ps advanced() const { return *std::max_element(advanced_.begin(), advanced_.end()); }

    // Of each tier: by owner, and how long reads took from their sending to their return.
    const std::vector<TierUse> &use(uint32_t tier) const { return use_[tier]; }
    const Histogram &latency(uint32_t tier) const { return latency_[tier]; }
    uint64_t requests() const { return order_; }

  private:
    struct Later {
        Ps at;
        uint64_t order;
        uint32_t request; // in under_
        bool operator>(const Later &other) const {
            return at != other.at ? at > other.at : order > other.order;
        }
    };
    struct Under { // way, or yet to go
        Send send;
        Ps at;
    };
    struct Held { // for one queue: first in, first out
        std::vector<uint32_t> requests;
        size_t head = 0;
        bool empty() const { return head == requests.size(); }
        uint32_t front() const { return requests[head]; }
        void pop() {
            head++;
            if (head == requests.size() || head >= 4096) {
                requests.erase(requests.begin(), requests.begin() + ptrdiff_t(head));
                head = 0;
            }
        }
    };

    uint32_t add(const Send &send, Ps at) {
        if (free_.empty()) {
            free_.push_back(uint32_t(under_.size()));
            under_.emplace_back();
        }
        const uint32_t index = free_.back();
        free_.pop_back();
        under_[index] = {send, at};
        return index;
    }
    void hold(uint32_t memory, uint32_t queue, uint32_t request) {
        Held &held = held_[memory][queue];
        if (held.empty())
            full_[memory].push_back(queue);
        held.requests.push_back(request);
        waiting_++;
    }
    bool waits_behind(uint32_t memory, const Request &request) const {
        return holds(memory) && !held_[memory][memories_[memory].queue(request)].empty();
    }
    Request made(uint32_t index) const {
        const Send &send = under_[index].send;
        Request request;
        request.address = nodes_[send.node].base + send.address;
        request.token = send.write ? nobody : index;
        request.bytes = send.bytes;
        request.write = send.write;
        request.purpose = send.purpose;
        return request;
    }
    bool offer(uint32_t memory, Request request, uint32_t index, Ps now) {
        const Send &send = under_[index].send;
        request.arrival = std::max(now, advanced_[memory]);
        if (!memories_[memory].accepts(request))
            return false;
        memories_[memory].push(request);
        if (send.write && send.token != nobody)
            taken_.push_back({send.token, request.arrival});
        if (send.write)
            free_.push_back(index);
        return true;
    }

    const std::vector<NodeConfig> nodes_;
    std::vector<Memory> &memories_;
    const uint32_t sockets_;
    std::vector<uint32_t> tier_; // of each node
    std::vector<Later> later_;
    std::vector<Under> under_;
    std::vector<uint32_t> free_;
    // By memory and queue: a full queue of one channel holds up no other channel's requests.
    std::vector<std::vector<Held>> held_;
    std::vector<std::vector<uint32_t>> full_; // by memory: queues for which requests are held
    std::vector<Ps> advanced_;
    std::vector<Completion> completions_, taken_;
    std::vector<Histogram> latency_;
    std::vector<std::vector<TierUse>> use_; // by tier, then owner
    uint64_t order_ = 0, reads_ = 0, waiting_ = 0;
};

} // namespace thermocline
