// See dram_channel.h: what each command does to banks, limits and queues.
#include "simulator/memory/dram_channel.h"
#include <algorithm>

namespace thermocline {

static void raise(Cycle &limit, Cycle cycle) { limit = std::max(limit, cycle); }

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

// Of all bank groups, and of the NVM, which is as a rank with one bank group.  Gaps within a group
// are no shorter than within its rank.
void DramChannel::raise_column_limits(uint32_t group, bool write) {
    const uint32_t (&to_read)[3] = write ? write_to_read_ : read_to_read_;
    const uint32_t (&to_write)[3] = write ? write_to_write_ : read_to_write_;
    const uint32_t rank = rank_of_group_[group];
    for (uint32_t g = 0; g <= groups_; g++) {
        const uint32_t near = rank_of_group_[g] == rank ? 1 : 2;
        raise(limit_[rd * stride + g], now_ + to_read[near]);
        raise(limit_[wr * stride + g], now_ + to_write[near]);
    }
    raise(limit_[rd * stride + group], now_ + to_read[0]);
    raise(limit_[wr * stride + group], now_ + to_write[0]);
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
