// See dram_channel.h: what comes next.  dram_commands.cpp does it.
#include "simulator/memory/dram_channel.h"
#include <algorithm>
#include <bit>

namespace thermocline {

// A candidate's rank: row command?, sequence, bank.  2^40 bursts are weeks of simulation, and what
// is waited for is less than 2^17 cycles away (see config.cpp).
constexpr unsigned bank_bits = 6, row_bit = 46, cycle_bit = 47;
static_assert(1 << bank_bits == DramConfig::max_banks);

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
    for (uint32_t group = 0; group <= groups_; group++)
        rank_of_group_[group] = uint8_t(group / config.bank_groups);
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
    const Cycle cycle = std::max(
        {first->ready, now_, bus_free_[false], limit_[(write ? wr : rd) * stride + groups_]});
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
        Cycle cycle =
            std::max({now_, bus_free_[true], limit_[pre * stride + r * config_.bank_groups]});
        for (uint32_t b = r * banks_per_rank_; b < (r + 1) * banks_per_rank_; b++)
            if (rank.open == 0)
                cycle = std::max(cycle, bank_ok_[act][b]);
            else if (is_open_[b])
                cycle = std::max(cycle, bank_ok_[pre][b]);
        if (cycle < next_.cycle || (cycle == next_.cycle && next_.event < Event::refresh_due))
            next_ = {cycle, Event::refresh, r, 0};
    }
}

} // namespace thermocline
