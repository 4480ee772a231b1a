// See memory.h.
#include "simulator/memory/memory.h"
#include <algorithm>
#include <bit>

namespace thermocline {

Memory::Memory(const MemoryConfig &config)
    : config_(config), clock_ps_(config.dram.clock_ps),
      burst_shift_(std::countr_zero(config.dram.burst_bytes)),
      bursts_per_granule_shift_(
          std::countr_zero(config.interleave_bytes / config.dram.burst_bytes)) {
    const QueueConfig &queues = config.dram.queues;
    // All bursts of a request must find room at once, wherever they go.
    largest_request_ = (std::min(queues.reads, queues.writes) - 1) * config.dram.burst_bytes;
    for (uint32_t channel = 0; channel < config.channels; channel++)
        channels_.emplace_back(config.dram, channel);
    next_.assign(config.channels, never);
    estimated_.assign(config.channels, false);
}

Cycle Memory::cycle_at(Ps time) const { return time / clock_ps_ + (time % clock_ps_ != 0); }

Memory::Burst Memory::burst(uint64_t number) const {
    const uint64_t granule = number >> bursts_per_granule_shift_;
    const uint64_t within = number & ((uint64_t(1) << bursts_per_granule_shift_) - 1);
    const uint64_t outer = granule / config_.channels;
    return {uint32_t(granule - outer * config_.channels),
            (outer << bursts_per_granule_shift_ | within) << burst_shift_};
}

bool Memory::accepts(const Request &request) const {
    const uint64_t first = request.address >> burst_shift_;
    const uint64_t last = (request.address + request.bytes - 1) >> burst_shift_;
    if (first == last)
        return channels_[burst(first).channel].room(request.write, 1);
    for (uint64_t at = first; at <= last; at++) {
        const uint32_t channel = burst(at).channel;
        uint32_t wanted = 0;
        for (uint64_t other = first; other <= last; other++)
            wanted += burst(other).channel == channel;
        if (!channels_[channel].room(request.write, wanted))
            return false;
    }
    return true;
}

void Memory::push(const Request &request) {
    Traffic &traffic = traffic_[0][unsigned(request.purpose)];
    (request.write ? traffic.writes : traffic.reads)++;
    (request.write ? traffic.write_bytes : traffic.read_bytes) += request.bytes;
    enter(request, request.arrival);
}

void Memory::enter(const Request &request, Ps at) {
    const Cycle cycle = cycle_at(at);
    const uint64_t first = request.address >> burst_shift_;
    const uint64_t last = (request.address + request.bytes - 1) >> burst_shift_;
    uint32_t slot = 0;
    if (request.write) {
        completions_.push_back({request.token, cycle * clock_ps_});
    } else {
        if (free_slots_.empty()) {
            free_slots_.push_back(uint32_t(slots_.size()));
            slots_.emplace_back();
        }
        slot = free_slots_.back();
        free_slots_.pop_back();
        slots_[slot] = {request.token, request.arrival, 0, uint32_t(last - first + 1),
                        request.purpose};
    }
    for (uint64_t number = first; number <= last; number++) {
        const Burst to = burst(number);
        DramChannel &channel = channels_[to.channel];
        channel.enter(cycle, channel.locate(to.local), request.write, slot, finished_);
        next_[to.channel] = cycle;
        estimated_[to.channel] = true;
    }
    collect();
}

// Bursts that have their data become completions when they are their request's last.
void Memory::collect() {
    for (const BurstDone &burst : finished_) {
        Slot &slot = slots_[burst.ticket];
        slot.latest = std::max(slot.latest, burst.cycle * clock_ps_);
        if (--slot.bursts != 0)
            continue;
        traffic_[0][unsigned(slot.purpose)].read_latency.add(slot.latest - slot.arrival);
        completions_.push_back({slot.token, slot.latest});
        free_slots_.push_back(burst.ticket);
    }
    finished_.clear();
}

void Memory::run(uint32_t channel, Cycle before) {
    channels_[channel].run(before, finished_);
    next_[channel] = channels_[channel].next();
    estimated_[channel] = false;
}

Ps Memory::next() {
    if (!completions_.empty())
        return now_;
    Cycle least = never;
    for (uint32_t channel = 0; channel < config_.channels; channel++) {
        if (estimated_[channel]) {
            next_[channel] = channels_[channel].next();
            estimated_[channel] = false;
        }
        least = std::min(least, next_[channel]);
    }
    return least == never ? never : least * clock_ps_ + 1;
}

void Memory::advance(Ps until, std::vector<Completion> &done) {
    const Cycle before = cycle_at(until);
    for (uint32_t channel = 0; channel < config_.channels; channel++)
        if (next_[channel] < before)
            run(channel, before);
    collect();
    now_ = std::max(now_, until);
    done.insert(done.end(), completions_.begin(), completions_.end());
    completions_.clear();
}

void Memory::record(std::vector<Command> *commands) {
    for (DramChannel &channel : channels_)
        channel.record(commands);
}

Statistics Memory::statistics(Ps until) {
    const Cycle before = cycle_at(until);
    for (uint32_t channel = 0; channel < config_.channels; channel++)
        run(channel, before);
    collect();
    now_ = std::max(now_, until);
    Statistics all;
    all.until = until;
    all.dram.traffic = traffic_[0];
    const DramConfig &dram = config_.dram;
    const DramEnergy &energy = dram.energy;
    const double ns = double(until) / 1000;
    double open_ns = 0;
    for (const DramChannel &channel : channels_) {
        const DramCounts counts = channel.counts(before);
        all.dram.read_bursts += counts.reads;
        all.dram.write_bursts += counts.writes;
        all.row_hits += counts.hits;
        all.row_misses += counts.misses;
        all.row_conflicts += counts.conflicts;
        all.activates += counts.activates;
        all.refreshes += counts.refreshes;
        all.answered += counts.answered;
        all.merged += counts.merged;
        open_ns += double(counts.open_cycles) * clock_ps_ / 1000;
    }
    all.dram.bus_busy =
        (all.dram.read_bursts + all.dram.write_bursts) * dram.burst_cycles * clock_ps_;
    Energy &sum = all.dram.energy;
    sum.activate = double(all.activates) * energy.activate_pj;
    sum.read = double(all.dram.read_bursts) * energy.read_pj;
    sum.write = double(all.dram.write_bursts) * energy.write_pj;
    sum.refresh = double(all.refreshes) * energy.refresh_pj;
    // mW are pJ a nanosecond.
    sum.background = open_ns * energy.open_mw +
                     (ns * dram.ranks * config_.channels - open_ns) * energy.closed_mw;
    sum.fixed = ns * config_.channels * energy.static_mw;
    return all;
}

} // namespace thermocline
