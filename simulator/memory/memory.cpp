// See memory.h.
#include "simulator/memory/memory.h"
#include <algorithm>
#include <bit>

namespace thermocline {

Memory::Memory(const MemoryConfig &config)
    : config_(config), layout_(config.dram), clock_ps_(config.dram.clock_ps),
      burst_shift_(std::countr_zero(config.dram.burst_bytes)), clock_divider_(config.dram.clock_ps),
      channel_divider_(config.channels) {
    const uint64_t granules[2] = {config.interleave_bytes,
                                  config.nvm ? config.nvm->interleave_bytes : 1 << 20};
    for (int part : {0, 1})
        granule_shift_[part] = std::countr_zero(granules[part] / config.dram.burst_bytes);
    // All bursts of a request must find room at once, wherever they go.
    uint32_t bursts = std::min(config.dram.queues.reads, config.dram.queues.writes);
    if (config.nvm)
        bursts = std::min(bursts, std::min(config.nvm->reads, config.nvm->writes));
    largest_request_ = (bursts - 1) * config.dram.burst_bytes;
    channels_.reserve(config.channels);
    for (uint32_t channel = 0; channel < config.channels; channel++)
        if (config.fidelity == Fidelity::faithful)
            channels_.emplace_back(config.dram, config.nvm, channel);
        else
            screening_.emplace_back(config.dram, config.nvm);
    next_.assign(channels_.size(), never);
    estimated_.assign(channels_.size(), false);
    if (config.link)
        link_.emplace(*config.link);
}

Memory::Bursts Memory::bursts(const Request &request) const {
    const bool nvm = request.address >= config_.nvm_base;
    const uint64_t address = request.address - (nvm ? config_.nvm_base : 0);
    return {address >> burst_shift_, (address + request.bytes - 1) >> burst_shift_, nvm};
}

Memory::Burst Memory::burst(uint64_t number, bool nvm) const {
    const uint64_t granule = number >> granule_shift_[nvm];
    const uint64_t within = number & ((uint64_t(1) << granule_shift_[nvm]) - 1);
    const uint64_t outer = channel_divider_.divide(granule);
    return {uint32_t(granule - outer * config_.channels), (outer << granule_shift_[nvm] | within)
                                                              << burst_shift_};
}

uint32_t Memory::queue(const Request &request) const {
    if (link_)
        return 0;
    const Bursts to = bursts(request);
    return burst(to.first, to.nvm).channel * 2 + uint32_t(to.nvm);
}

bool Memory::accepts(const Request &request) const {
    return link_ ? link_->waiting.size() < config_.link->entries : room(request, now_cycle_);
}

bool Memory::room(const Request &request, Cycle now) const {
    const auto [first, last, nvm] = bursts(request);
    auto fits = [&, nvm = nvm](uint32_t channel, uint32_t count) {
        if (!screening_.empty())
            return nvm ? screening_[channel].room_nvm(now, request.write, count)
                       : screening_[channel].room(now, request.write, count);
        return nvm ? channels_[channel].room_nvm(request.write, count)
                   : channels_[channel].room(request.write, count);
    };
    if (first == last)
        return fits(burst(first, nvm).channel, 1);
    for (uint64_t number = first; number <= last; number++) {
        const uint32_t channel = burst(number, nvm).channel;
        uint32_t wanted = 0;
        for (uint64_t other = first; other <= last; other++)
            wanted += burst(other, nvm).channel == channel;
        if (!fits(channel, wanted))
            return false;
    }
    return true;
}

void Memory::count(const Request &request, bool nvm) {
    Traffic &traffic = traffic_[nvm][unsigned(request.purpose)];
    (request.write ? traffic.writes : traffic.reads)++;
    (request.write ? traffic.write_bytes : traffic.read_bytes) += request.bytes;
}

Ps Memory::admit(const Request &request) {
    Ps now = std::max(request.arrival, now_);
    const auto [first, last, nvm] = bursts(request);
    if (screening_.empty() || link_ || nvm || first != last) {
        Request waiting = request;
        step(now);
        while (!accepts(waiting))
            step(now = next_event());
        waiting.arrival = now;
        push(waiting);
        return now;
    }
    // Screening one burst: all in one go.
    const Burst to = burst(first, false);
    ScreeningChannel &channel = screening_[to.channel];
    const Cycle wanted = cycle_at(now), cycle = channel.wait(wanted, request.write);
    if (cycle != wanted)
        now = (cycle - 1) * clock_ps_ + 1;
    now_ = now;
    now_cycle_ = cycle;
    count(request, false);
    const Cycle done = channel.enter(cycle, layout_.locate(to.local), request.write);
    if (!request.write)
        traffic_[0][unsigned(request.purpose)].read_latency.add(done * clock_ps_ - now);
    completions_.push_back({request.token, (request.write ? cycle : done) * clock_ps_});
    return now;
}

void Memory::push(const Request &request) {
    count(request, request.address >= config_.nvm_base);
    if (!link_) {
        enter(request, request.arrival);
        return;
    }
    const uint64_t bytes = config_.link->header_bytes + (request.write ? request.bytes : 0);
    link_->waiting.push_back({request, link_->request.send(request.arrival, bytes)});
}

// Screening: the end is known at once.
void Memory::screen(const Request &request, Ps at) {
    const Cycle cycle = cycle_at(at);
    const auto [first, last, nvm] = bursts(request);
    Cycle done = cycle;
    for (uint64_t number = first; number <= last; number++) {
        const Burst to = burst(number, nvm);
        ScreeningChannel &channel = screening_[to.channel];
        done = std::max(done, nvm ? channel.enter_nvm(cycle, to.local, request.write)
                                  : channel.enter(cycle, layout_.locate(to.local), request.write));
    }
    const Slot read = {request.token, request.arrival, 0, 0, request.bytes, request.purpose, nvm};
    complete(request.token, (request.write ? cycle : done) * clock_ps_,
             request.write ? nullptr : &read);
}

void Memory::enter(const Request &request, Ps at) {
    if (!screening_.empty()) {
        screen(request, at);
        return;
    }
    const Cycle cycle = cycle_at(at);
    const auto [first, last, nvm] = bursts(request);
    const Slot read = {request.token, request.arrival, 0,  uint32_t(last - first + 1),
                       request.bytes, request.purpose, nvm};
    uint32_t slot = 0;
    if (request.write) {
        complete(request.token, cycle * clock_ps_, nullptr);
    } else {
        if (free_slots_.empty()) {
            free_slots_.push_back(uint32_t(slots_.size()));
            slots_.emplace_back();
        }
        slot = free_slots_.back();
        free_slots_.pop_back();
        slots_[slot] = read;
    }
    for (uint64_t number = first; number <= last; number++) {
        const Burst to = burst(number, nvm);
        DramChannel &channel = channels_[to.channel];
        if (nvm)
            channel.enter_nvm(cycle, to.local, request.write, slot, finished_);
        else
            channel.enter(cycle, layout_.locate(to.local), request.write, slot, finished_);
        next_[to.channel] = cycle;
        estimated_[to.channel] = true;
    }
    collect();
}

// At the memory; a link has to carry the response yet.
void Memory::complete(uint64_t token, Ps at, const Slot *read) {
    if (link_) {
        link_->responses.push({at, link_->sequence++, token, read ? read->arrival : 0,
                               read ? read->bytes : 0, read ? read->purpose : Purpose::demand,
                               read == nullptr, read && read->nvm});
        return;
    }
    if (read)
        traffic_[read->nvm][unsigned(read->purpose)].read_latency.add(at - read->arrival);
    completions_.push_back({token, at});
}

// Bursts that have their data become completions when they are their request's last.
void Memory::collect() {
    for (const BurstDone &burst : finished_) {
        Slot &slot = slots_[burst.ticket];
        slot.latest = std::max(slot.latest, burst.cycle * clock_ps_);
        if (--slot.missing != 0)
            continue;
        complete(slot.token, slot.latest, &slot);
        free_slots_.push_back(burst.ticket);
    }
    finished_.clear();
}

void Memory::run(uint32_t channel, Cycle before) {
    channels_[channel].run(before, finished_);
    next_[channel] = channels_[channel].next();
    estimated_[channel] = false;
}

void Memory::run_all(Cycle before) {
    for (uint32_t channel = 0; channel < channels_.size(); channel++)
        if (next_[channel] < before)
            run(channel, before);
    collect();
}

// What has crossed the link enters the memory's queues, in order: one that finds its queue full
// holds up those behind it.
void Memory::deliver(Ps until) {
    while (!link_->waiting.empty()) {
        const Link::Waiting &first = link_->waiting.front();
        const Ps at = std::max(first.ready, link_->blocked_until);
        if (at >= until)
            return;
        run_all(cycle_at(at));
        if (room(first.request, cycle_at(at))) {
            enter(first.request, at);
            link_->waiting.pop_front();
        } else {
            link_->blocked_until = next_command(cycle_at(at));
        }
    }
}

// Responses leave in the order in which they are ready; whatever comes later is ready later.
void Memory::return_responses(Ps until) {
    while (!link_->responses.empty() && link_->responses.top().ready < until) {
        const Link::Response response = link_->responses.top();
        link_->responses.pop();
        const Ps at =
            link_->response.send(response.ready, config_.link->header_bytes + response.bytes);
        if (!response.write)
            traffic_[response.nvm][unsigned(response.purpose)].read_latency.add(at -
                                                                                response.arrival);
        completions_.push_back({response.token, at});
    }
}

Ps Memory::next_command(Cycle now) {
    Cycle least = never;
    for (ScreeningChannel &channel : screening_)
        least = std::min(least, channel.next(now));
    for (uint32_t channel = 0; channel < channels_.size(); channel++) {
        if (estimated_[channel]) {
            next_[channel] = channels_[channel].next();
            estimated_[channel] = false;
        }
        least = std::min(least, next_[channel]);
    }
    return least == never ? never : least * clock_ps_ + 1;
}

Ps Memory::next() { return completions_.empty() ? next_event() : now_; }

Ps Memory::next_event() {
    Ps next = next_command(now_cycle_);
    if (link_ && !link_->waiting.empty())
        next = std::min(next, std::max(link_->waiting.front().ready, link_->blocked_until) + 1);
    if (link_ && !link_->responses.empty())
        next = std::min(next, link_->responses.top().ready + 1);
    return next;
}

void Memory::advance(Ps until, std::vector<Completion> &done) {
    step(until);
    if (done.empty())
        done.swap(completions_);
    else
        done.insert(done.end(), completions_.begin(), completions_.end());
    completions_.clear();
}

void Memory::step(Ps until) {
    if (link_)
        deliver(until);
    if (!channels_.empty())
        run_all(cycle_at(until));
    if (link_)
        return_responses(until);
    if (until > now_) {
        now_cycle_ = cycle_at(until);
        now_ = until;
    }
}

void Memory::record(std::vector<Command> *commands) {
    for (DramChannel &channel : channels_)
        channel.record(commands);
}

} // namespace thermocline
