// See dram_channel.h.
#include "simulator/memory/dram_channel.h"
#include <algorithm>
#include <bit>

namespace thermocline {

// A candidate's rank: row command?, sequence, bank.  2^40 bursts are weeks of simulation, and what
// is waited for is less than 2^17 cycles away (see config.cpp).
constexpr unsigned bank_bits = 6, row_bit = 46, cycle_bit = 47;
static_assert(1 << bank_bits == DramConfig::max_banks);

static void raise(Cycle &limit, Cycle cycle) { limit = std::max(limit, cycle); }

static uint32_t positive(int64_t cycles) { return cycles > 0 ? uint32_t(cycles) : 0; }

DramChannel::DramChannel(const DramConfig &config, const std::optional<NvmConfig> &nvm,
                         uint32_t index)
    : config_(config), index_(index), banks_per_rank_(config.banks_per_rank()),
      banks_(config.banks()), groups_(config.ranks * config.bank_groups) {
    for (bool write : {false, true}) {
        Queue &queue = queue_[write];
        const uint32_t size = write ? config.queues.writes : config.queues.reads;
        queue.entries.resize(size);
        for (uint32_t i = size; i-- > 0;)
            queue.free.push_back(i);
        std::fill_n(queue.first, max_banks, none);
        std::fill_n(queue.last, max_banks, none);
    }
    for (uint32_t bank = 0; bank < banks_; bank++)
        group_of_[bank] = uint8_t(rank_of(bank) * config.bank_groups + bank % config.bank_groups);
    if (nvm)
        nvm_.emplace(*nvm, config.clock_ps);
    ranks_.resize(config.ranks);
    for (uint32_t r = 0; r < config.ranks; r++) {
        const uint64_t refi = config.timing.refi;
        ranks_[r].due = refi ? refi * (r + 1) / config.ranks : never;
        first_due_ = std::min(first_due_, ranks_[r].due);
    }
    const DramTiming &t = config.timing;
    const int64_t burst = config.burst_cycles, cl = t.cl, cwl = t.cwl;
    const uint32_t other_rank = uint32_t(burst) + t.rank_switch;
    const uint32_t turn = positive(cl + burst + t.bus_turn - cwl);
    const uint32_t r_r[3] = {std::max(t.ccd_l, t.ccd_s), t.ccd_s, other_rank};
    const uint32_t r_w[3] = {turn, turn, positive(cl + burst + t.rank_switch - cwl)};
    const uint32_t w_s = uint32_t(cwl + burst) + t.wtr_s, w_l = uint32_t(cwl + burst) + t.wtr_l;
    const uint32_t w_r[3] = {std::max(w_l, w_s), w_s, positive(cwl + burst + t.rank_switch - cl)};
    std::copy_n(r_r, 3, read_to_read_);
    std::copy_n(r_w, 3, read_to_write_);
    std::copy_n(w_r, 3, write_to_read_);
    std::copy_n(r_r, 3, write_to_write_);
}

void DramChannel::enter(Cycle cycle, DramPlace place, bool write, uint32_t ticket,
                        std::vector<BurstDone> &done) {
    run(cycle, done);
    now_ = std::max(now_, cycle);
    for (uint32_t i = queue_[1].first[place.bank]; i != none; i = queue_[1].entries[i].next) {
        const Entry &waiting = queue_[1].entries[i];
        if (waiting.row != place.row || waiting.column != place.column)
            continue;
        if (write) {
            counts_.merged++;
        } else {
            counts_.answered++;
            done.push_back({ticket, cycle + 1});
        }
        return;
    }
    Queue &queue = queue_[write];
    const uint32_t i = queue.free.back();
    queue.free.pop_back();
    const uint32_t before = queue.last[place.bank];
    queue.entries[i] = {sequence_++,  place.row,  ticket, none, before,
                        place.column, place.bank, false,  false};
    (before == none ? queue.first[place.bank] : queue.entries[before].next) = i;
    queue.last[place.bank] = i;
    const bool was_writing = writing();
    queue.size++;
    if (write && queue.size >= config_.queues.drain_start)
        draining_ = true;
    if (writing() != was_writing) {
        queue.changed |= uint64_t(1) << place.bank;
        next_known_ = false;
    } else if (write != was_writing || !next_known_) {
        queue.changed |= uint64_t(1) << place.bank; // the active queue is as it was
    } else {
        keep_next(write, place.bank);
    }
}

// The active queue has a new entry: the next event is brought up to date, mostly as it was.
void DramChannel::keep_next(bool write, uint32_t bank) {
    Queue &queue = queue_[write];
    const bool had = queue.waiting >> bank & 1;
    const Kind kind = queue.kind[bank];
    if (had && kind != pre)
        return; // the newest entry of a bank changes nothing, unless a row would be closed
    find_candidate(write, bank);
    if (had && queue.kind[bank] == kind)
        return;
    if (blocked_ >> bank & 1)
        return;
    if (next_.event == Event::command && next_.index == bank) {
        next_known_ = false; // its bank was to close the row that the new entry wants
        return;
    }
    const Cycle cycle = allowed(queue, bank);
    if (cycle < next_.cycle ||
        (cycle == next_.cycle && next_.event < Event::refresh_due && queue.rank[bank] < next_.rank))
        next_ = {cycle, Event::command, bank, queue.rank[bank]};
}

void DramChannel::enter_nvm(Cycle cycle, uint64_t local, bool write, uint32_t ticket,
                            std::vector<BurstDone> &done) {
    run(cycle, done);
    now_ = std::max(now_, cycle);
    nvm_->enter(cycle, local, write, ticket, sequence_++);
    next_known_ = false;
}

void DramChannel::run(Cycle before, std::vector<BurstDone> &done) {
    for (;;) {
        if (!next_known_)
            find_next();
        if (next_.cycle >= before)
            return;
        perform(done);
    }
}

Cycle DramChannel::next() {
    const bool waits = queue_[0].size + queue_[1].size != 0;
    if (!waits && (!nvm_ || (nvm_->read() == nullptr && nvm_->write() == nullptr)))
        return never;
    if (!next_known_)
        find_next();
    return next_.cycle;
}

void DramChannel::find_candidate(bool write, uint32_t bank) {
    Queue &queue = queue_[write];
    const uint64_t bit = uint64_t(1) << bank;
    const uint32_t first = queue.first[bank];
    if (first == none) {
        queue.waiting &= ~bit;
        return;
    }
    queue.waiting |= bit;
    uint32_t chosen = first;
    Kind kind = act;
    if (is_open_[bank]) {
        const uint32_t row = open_row_[bank];
        uint32_t hit = first;
        // An older request for another row waits until the cap at most.
        if (queue.entries[first].row != row) {
            if (served_[bank] < config_.queues.row_hit_cap)
                while (hit != none && queue.entries[hit].row != row)
                    hit = queue.entries[hit].next;
            else
                hit = none;
        }
        chosen = hit == none ? first : hit;
        kind = hit == none ? pre : write ? wr : rd;
    }
    queue.candidate[bank] = chosen;
    queue.kind[bank] = kind;
    queue.ready[bank] = bank_ok_[kind][bank];
    queue.rank[bank] =
        uint64_t(kind >= pre) << row_bit | queue.entries[chosen].sequence << bank_bits | bank;
    queue.limit[bank] = uint16_t(kind * stride + group_of_[bank]);
}

void DramChannel::find_next() {
    next_known_ = true;
    const bool write = writing();
    Queue &queue = queue_[write];
    for (uint64_t changed = queue.changed; changed != 0; changed &= changed - 1)
        find_candidate(write, uint32_t(std::countr_zero(changed)));
    queue.changed = 0;
    // The least of (cycle, rank) in one word, without a branch that would be mispredicted.
    uint64_t best = UINT64_MAX;
    for (uint64_t waiting = queue.waiting & ~blocked_; waiting != 0; waiting &= waiting - 1) {
        const uint32_t bank = uint32_t(std::countr_zero(waiting));
        best = std::min(best, (allowed(queue, bank) - now_) << cycle_bit | queue.rank[bank]);
    }
    next_ = {never, Event::command, none, best};
    if (best != UINT64_MAX)
        next_ = {now_ + (best >> cycle_bit), Event::command, uint32_t(best & (max_banks - 1)),
                 best & ((uint64_t(1) << cycle_bit) - 1)};
    if (nvm_) {
        next_transfer(false);
        if (write || nvm_->many_writes())
            next_transfer(true);
    }
    if (blocked_ != 0 || next_.cycle >= first_due_)
        next_refresh();
}

// A transfer of the NVM competes as a column command does.  Its writes go when the channel writes
// anyway or when they are many, so that the bus does not turn round for each.
void DramChannel::next_transfer(bool write) {
    const NvmModule::Transfer *first = write ? nvm_->write() : nvm_->read();
    if (first == nullptr)
        return;
    const Cycle cycle =
        std::max(std::max(first->ready, now_), limit_[(write ? wr : rd) * stride + groups_]);
    const uint64_t rank = first->sequence << bank_bits;
    if (cycle < next_.cycle || (cycle == next_.cycle && rank < next_.rank))
        next_ = {cycle, write ? Event::nvm_write : Event::nvm_read, 0, rank};
}

// A refresh command comes before others of its cycle, and a rank is closed to requests from the
// cycle in which its refresh is due.
void DramChannel::next_refresh() {
    for (uint32_t r = 0; r < config_.ranks; r++) {
        const Rank &rank = ranks_[r];
        if (!rank.refreshing) {
            if (rank.due <= next_.cycle &&
                (next_.event != Event::refresh_due || rank.due < next_.cycle))
                next_ = {std::max(rank.due, now_), Event::refresh_due, r, 0};
            continue;
        }
        Cycle cycle = std::max(now_, limit_[pre * stride + r * config_.bank_groups]);
        for (uint32_t b = r * banks_per_rank_; b < (r + 1) * banks_per_rank_; b++)
            if (rank.open == 0)
                cycle = std::max(cycle, bank_ok_[act][b]);
            else if (is_open_[b])
                cycle = std::max(cycle, bank_ok_[pre][b]);
        if (cycle < next_.cycle || (cycle == next_.cycle && next_.event < Event::refresh_due))
            next_ = {cycle, Event::refresh, r, 0};
    }
}

void DramChannel::perform(std::vector<BurstDone> &done) {
    now_ = next_.cycle;
    next_known_ = false;
    if (next_.event == Event::refresh_due) {
        ranks_[next_.index].refreshing = true;
        for (uint32_t b = 0; b < banks_per_rank_; b++)
            blocked_ |= uint64_t(1) << (next_.index * banks_per_rank_ + b);
        first_due_ = never;
        for (const Rank &rank : ranks_)
            if (!rank.refreshing)
                first_due_ = std::min(first_due_, rank.due);
        return;
    }
    if (next_.event == Event::refresh) {
        refresh(next_.index);
        return;
    }
    if (next_.event != Event::command) {
        transfer(next_.event == Event::nvm_write, done);
        return;
    }
    const uint32_t bank = next_.index;
    Queue &queue = queue_[writing()];
    Entry &entry = queue.entries[queue.candidate[bank]];
    switch (queue.kind[bank]) {
    case act:
        activate(bank, entry);
        break;
    case pre:
        entry.precharged = true;
        log(CommandKind::precharge, bank, 0);
        precharge(bank);
        take_bus(true);
        break;
    default:
        column_command(bank, done);
    }
}

void DramChannel::take_bus(bool row) {
    for (Kind kind : {rd, wr, pre, act})
        if (!config_.separate_row_bus || row == (kind >= pre))
            for (uint32_t g = 0; g <= groups_; g++)
                raise(limit_[kind * stride + g], now_ + 1);
}

void DramChannel::column_command(uint32_t bank, std::vector<BurstDone> &done) {
    const bool write = writing();
    Queue &queue = queue_[write];
    const uint32_t i = queue.candidate[bank];
    const Entry &entry = queue.entries[i];
    const DramTiming &t = config_.timing;
    log(write ? CommandKind::write : CommandKind::read, bank, entry.row);
    raise_column_limits(group_of_[bank], write);
    const Cycle close = now_ + (write ? t.cwl + config_.burst_cycles + t.wr : t.rtp);
    raise(bank_ok_[pre][bank], close);
    served_[bank]++;
    take_bus(false);

    (entry.precharged ? counts_.conflicts : entry.activated ? counts_.misses : counts_.hits)++;
    (write ? counts_.writes : counts_.reads)++;
    if (!write)
        done.push_back({entry.ticket, now_ + t.cl + config_.burst_cycles});
    (entry.previous == none ? queue.first[bank] : queue.entries[entry.previous].next) = entry.next;
    (entry.next == none ? queue.last[bank] : queue.entries[entry.next].previous) = entry.previous;
    queue.free.push_back(i);
    queue.size--;
    if (write && queue.size <= config_.queues.drain_stop)
        draining_ = false;
    bank_changed(bank);
}

// Of all bank groups, and of the NVM, which is as a rank with one bank group.
void DramChannel::raise_column_limits(uint32_t group, bool write) {
    const uint32_t (&to_read)[3] = write ? write_to_read_ : read_to_read_;
    const uint32_t (&to_write)[3] = write ? write_to_write_ : read_to_write_;
    const uint32_t rank = group / config_.bank_groups;
    for (uint32_t g = 0; g <= groups_; g++) {
        const uint32_t near = g == group ? 0 : g / config_.bank_groups == rank ? 1 : 2;
        raise(limit_[rd * stride + g], now_ + to_read[near]);
        raise(limit_[wr * stride + g], now_ + to_write[near]);
    }
}

// From or to the NVM module.
void DramChannel::transfer(bool write, std::vector<BurstDone> &done) {
    const NvmModule::Transfer taken = nvm_->take(now_, write);
    raise_column_limits(groups_, write);
    take_bus(false);
    if (!write)
        done.push_back({taken.ticket, now_ + config_.timing.cl + config_.burst_cycles});
}

void DramChannel::activate(uint32_t bank, Entry &entry) {
    const DramTiming &t = config_.timing;
    log(CommandKind::activate, bank, entry.row);
    entry.activated = true;
    counts_.activates++;
    is_open_[bank] = true;
    open_row_[bank] = entry.row;
    served_[bank] = 0;
    Rank &rank = ranks_[rank_of(bank)];
    if (rank.open++ == 0)
        rank.open_since = now_;
    bank_ok_[rd][bank] = bank_ok_[wr][bank] = now_ + t.rcd;
    raise(bank_ok_[pre][bank], now_ + t.ras);
    raise(bank_ok_[act][bank], now_ + t.rc);
    rank.activates[rank.oldest_activate] = now_ + t.faw;
    rank.oldest_activate = (rank.oldest_activate + 1) % 4;
    const Cycle four = rank.activates[rank.oldest_activate];
    const uint32_t base = rank_of(bank) * config_.bank_groups;
    for (uint32_t g = base; g < base + config_.bank_groups; g++) {
        const uint32_t gap = g == group_of_[bank] ? std::max(t.rrd_l, t.rrd_s) : t.rrd_s;
        raise(limit_[act * stride + g], std::max(now_ + gap, four));
    }
    take_bus(true);
    bank_changed(bank);
}

void DramChannel::precharge(uint32_t bank) {
    is_open_[bank] = false;
    raise(bank_ok_[act][bank], now_ + config_.timing.rp);
    Rank &rank = ranks_[rank_of(bank)];
    if (--rank.open == 0)
        counts_.open_cycles += now_ - rank.open_since;
    bank_changed(bank);
}

void DramChannel::refresh(uint32_t r) {
    Rank &rank = ranks_[r];
    const uint32_t base = r * banks_per_rank_;
    take_bus(true);
    if (rank.open != 0) {
        log(CommandKind::precharge_all, base, 0);
        for (uint32_t bank = base; bank < base + banks_per_rank_; bank++)
            if (is_open_[bank])
                precharge(bank);
        return;
    }
    log(CommandKind::refresh, base, 0);
    counts_.refreshes++;
    for (uint32_t bank = base; bank < base + banks_per_rank_; bank++)
        raise(bank_ok_[act][bank], now_ + config_.timing.rfc);
    for (uint32_t bank = base; bank < base + banks_per_rank_; bank++)
        bank_changed(bank); // their candidates know the old limit
    rank.due += config_.timing.refi;
    if (rank.due <= now_)
        return; // late already: goes on refreshing
    rank.refreshing = false;
    for (uint32_t bank = base; bank < base + banks_per_rank_; bank++)
        blocked_ &= ~(uint64_t(1) << bank);
    first_due_ = std::min(first_due_, rank.due);
}

void DramChannel::log(CommandKind kind, uint32_t bank, uint32_t row) {
    if (commands_ != nullptr)
        commands_->push_back(
            {now_, index_, kind, uint8_t(rank_of(bank)), uint8_t(bank % banks_per_rank_), row});
}

DramCounts DramChannel::counts(Cycle until) const {
    DramCounts counts = counts_;
    for (const Rank &rank : ranks_)
        if (rank.open != 0 && until > rank.open_since)
            counts.open_cycles += until - rank.open_since;
    return counts;
}

} // namespace thermocline
