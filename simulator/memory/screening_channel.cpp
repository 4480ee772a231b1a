// See screening_channel.h.
#include "simulator/memory/screening_channel.h"
#include <algorithm>

namespace thermocline {

// Slots that all that may wait could take if every one had to open a row of one bank.
static uint64_t window(const DramConfig &config) {
    const uint64_t each = config.timing.rc + config.timing.cwl + config.timing.wr;
    return (config.queues.reads + 2 * config.queues.writes) * each / config.burst_cycles +
           2 * (config.timing.rfc + config.timing.bus_turn + config.timing.wtr_l) /
               config.burst_cycles +
           4096;
}

ScreeningChannel::ScreeningChannel(const DramConfig &config, const std::optional<NvmConfig> &nvm)
    : config_(config), banks_per_rank_(config.banks_per_rank()), banks_(config.banks()),
      bus_(4 * config.burst_cycles, window(config)),
      departing_{SlotSet(window(config)), SlotSet(window(config))} {
    const DramTiming &t = config.timing;
    for (uint32_t r = 0; r < config.ranks; r++)
        ranks_.push_back({t.refi ? uint64_t(t.refi) * (r + 1) / config.ranks : never, 0,
                          Calendar(std::max(4 * t.rrd_s, t.faw), window(config))});
    // From the last read's data to the first write's and back, the bus is idle.
    const uint32_t idle = t.bus_turn + t.wtr_l + t.cl;
    turn_slots_ = (idle + config.burst_cycles / 2) / config.burst_cycles;
    open_slots_ = (t.rp + t.rcd) / config.burst_cycles;
    if (nvm) {
        nvm_.emplace(*nvm, config.clock_ps);
        nvm_departures_[0].resize(nvm->reads);
        nvm_departures_[1].resize(nvm->writes);
    }
}

// Entries whose column command has been issued are free.
void ScreeningChannel::depart(Cycle now, bool write) {
    const uint32_t latency = write ? config_.timing.cwl : config_.timing.cl;
    departing_[write].drop_before(bus_.slot_at(now + latency));
}

// Windows move on, now and then.
void ScreeningChannel::forget(Cycle now) {
    forget_next_ = now + 1024 * config_.burst_cycles;
    bus_.forget_before(now);
    for (Rank &rank : ranks_)
        rank.activates.forget_before(now);
    depart(now, false);
    depart(now, true);
}

bool ScreeningChannel::room(Cycle now, bool write, uint32_t bursts) {
    depart(now, write);
    const QueueConfig &queues = config_.queues;
    return write ? writes_.size() + departing_[1].size() + bursts <= queues.writes
                 : departing_[0].size() + bursts <= queues.reads;
}

bool ScreeningChannel::room_nvm(Cycle now, bool write, uint32_t bursts) const {
    const std::vector<Cycle> &ring = nvm_departures_[write];
    return ring[(nvm_entered_[write] + bursts - 1) % ring.size()] <= now;
}

Cycle ScreeningChannel::next(Cycle now) {
    Cycle next = never;
    for (bool write : {false, true}) {
        depart(now, write);
        if (departing_[write].size() != 0) {
            const uint32_t latency = write ? config_.timing.cwl : config_.timing.cl;
            const Cycle left = bus_.start(departing_[write].first() + 1) - latency;
            next = std::min(next, std::max(now + 1, left) - 1);
        }
    }
    for (const std::vector<Cycle> &ring : nvm_departures_)
        for (Cycle departure : ring)
            if (departure > now)
                next = std::min(next, departure - 1);
    return next;
}

Cycle ScreeningChannel::enter(Cycle now, DramPlace to, bool write) {
    if (now >= forget_next_)
        forget(now);
    if (!write) {
        has_read_ = true;
        return place(now, to, false);
    }
    writes_.push_back(to);
    if (writes_.size() >= config_.queues.drain_start) {
        drain(now, config_.queues.drain_stop);
    } else {
        depart(now, false);
        if (departing_[0].size() == 0) // no read waits
            drain(now, 0);
    }
    return now;
}

// The oldest writes go, but for some.  If reads have come since the last drain, the bus turns
// twice; and rows are not opened ahead for the other direction, so that it waits for the first.
void ScreeningChannel::drain(Cycle now, size_t stop) {
    const uint64_t activates = counts_.activates;
    for (size_t i = 0; i + stop < writes_.size(); i++)
        place(now, writes_[i], true);
    writes_.erase(writes_.begin(), writes_.end() - ptrdiff_t(stop));
    const uint32_t idle = turn_slots_ + (counts_.activates != activates ? open_slots_ : 0);
    for (uint32_t i = 0; i < idle && has_read_; i++)
        bus_.reserve(now);
    has_read_ = false;
}

// The first refresh of the rank after a cycle; cycles asked for go back by one refresh at most.
Cycle ScreeningChannel::due_after(Rank &rank, Cycle cycle) const {
    if (rank.due == never)
        return never;
    while (cycle >= rank.due)
        rank.due += config_.timing.refi;
    const uint32_t refi = config_.timing.refi;
    return rank.due > refi && cycle < rank.due - refi ? rank.due - refi : rank.due;
}

// When the row is open: it opens for column commands rcd later.
Cycle ScreeningChannel::activate(Cycle now, Bank &bank, Rank &rank, uint32_t row) {
    const DramTiming &t = config_.timing;
    const Cycle close = std::max(std::max(now, bank.closable), bank.activated + t.ras);
    const bool conflict = bank.open_until > close;
    Cycle from = now;
    bank.other_row = UINT32_MAX;
    if (conflict) {
        from = std::max(close + t.rp, bank.activated + t.rc);
        bank.other_row = bank.row;
        bank.other_column = bank.column;
    } else {
        from = std::max(now, bank.open_until); // a refresh has closed it, or will
    }
    if (rank.due != never) {
        const Cycle due = due_after(rank, from);
        if (due > t.refi)
            from = std::max(from, due - t.refi + t.rp + t.rfc);
    }
    const Cycle at = rank.activates.reserve(from);
    (conflict ? counts_.conflicts : counts_.misses)++;
    counts_.activates++;
    bank.row = row;
    bank.activated = at;
    bank.open_until = due_after(rank, at);
    bank.closable = 0;
    bank.column = at + t.rcd;
    if (rank.counted_until < bank.open_until) { // open until that refresh
        counts_.open_cycles += bank.open_until == never ? 0 : bank.open_until - at;
        rank.counted_until = bank.open_until;
    }
    return bank.column;
}

Cycle ScreeningChannel::place(Cycle now, DramPlace to, bool write) {
    const DramTiming &t = config_.timing;
    Bank &bank = banks_[to.bank];
    Cycle column;
    Cycle *next_column = &bank.column;
    if (to.row == bank.row && std::max(now, bank.column) < bank.open_until) {
        column = std::max(now, bank.column);
        counts_.hits++;
    } else if (to.row == bank.other_row && now < bank.other_column) {
        column = bank.other_column; // goes with those that wait for the row
        next_column = &bank.other_column;
        counts_.hits++;
    } else {
        column = activate(now, bank, ranks_[to.bank / banks_per_rank_], to.row);
    }
    const uint32_t latency = write ? t.cwl : t.cl;
    const Cycle data = bus_.reserve(column + latency);
    if (bus_.has_taken() && departing_[write].fits(bus_.last_slot()))
        departing_[write].add(bus_.last_slot());
    *next_column = data - latency + t.ccd_s;
    bank.closable = std::max(bank.closable,
                             write ? data + config_.burst_cycles + t.wr : data - latency + t.rtp);
    (write ? counts_.writes : counts_.reads)++;
    return data + config_.burst_cycles;
}

Cycle ScreeningChannel::enter_nvm(Cycle now, uint64_t local, bool write) {
    nvm_->enter(now, local, write, 0, 0);
    const Cycle ready = (write ? nvm_->write() : nvm_->read())->ready;
    nvm_->take(ready, write);
    const uint32_t latency = write ? config_.timing.cwl : config_.timing.cl;
    if (now >= forget_next_)
        forget(now);
    const Cycle data = bus_.reserve(ready + latency);
    std::vector<Cycle> &ring = nvm_departures_[write];
    ring[nvm_entered_[write]++ % ring.size()] = data - latency + 1;
    return data + config_.burst_cycles;
}

DramCounts ScreeningChannel::counts(Cycle until) const {
    DramCounts counts = counts_;
    const uint64_t refi = config_.timing.refi;
    for (uint32_t r = 0; r < config_.ranks && refi != 0; r++) {
        const uint64_t first = refi * (r + 1) / config_.ranks;
        counts.refreshes += until > first ? (until - first - 1) / refi + 1 : 0;
        if (ranks_[r].counted_until > until) // open until a refresh that is still to come
            counts.open_cycles -= std::min(counts.open_cycles, ranks_[r].counted_until - until);
    }
    return counts;
}

} // namespace thermocline
