// SILC-FM (Ryoo 2017, chapter 5): near and far memory are one flat space of blocks of 2 KiB.
// Subblocks (lines) of a far block change places with those of a near block of its set, one by
// one, so that both lie interleaved in near memory.  docs/organisations.md has the picture, and
// what the thesis leaves open.
//
// options: "ways" of a set (4), "threshold" of accesses for locking (50), "aging": accesses after
// which the counters are halved (1000000), "split": the share of reads that near memory should
// serve (0.8; the machine file's bandwidths say it), "metadata": where entries are read and
// written, "near" (memory, in rows of their own), "channel" (of their own), "free" (nowhere, for
// comparison), "counters": "near" (in the entry, so that each access writes one) or "chip" (only
// what moves or locks lines writes one), "lookup": "serial" (each of a set's entries is a read) or
// "set" (one read fetches all), what can be switched off: "locking", "history", "predictor",
// "bypass", and "plan" (off; site_plan.h): "on" locks blocks of sites that a plan puts on the fast
// tier, and moves nothing for those that it puts on the slow one.
#pragma once
#include "simulator/organisation/access_counts.h"
#include "simulator/organisation/silc_blocks.h"
#include "simulator/organisation/silc_options.h"
#include "simulator/organisation/silc_tables.h"
#include "simulator/organisation/site_plan.h"
#include "simulator/organisation/steps.h"
#include <algorithm>

namespace thermocline {

template <class Router> class SilcFm {
  public:
    static void reserve(const OrganisationConfig &config, std::vector<uint64_t> &node_bytes) {
        FlatSpace::check(config);
        FlatSpace::reserve(config, node_bytes, reserved(config));
    }

    SilcFm(const OrganisationConfig &config, Router &router)
        : space_(config, FlatSpace::near_bytes(config, reserved(config))), options_(config),
          near_blocks_(space_.near_lines() / lines),
          sets_(near_blocks_, uint32_t(std::min<uint64_t>(options_.ways, near_blocks_)),
                config.sockets),
          plan_(config), rate_(options_.split), steps_(space_, router) {}

    void demand(const Demand &demand, Ps at) {
        const uint64_t line = space_.line(demand);
        Step step;
        step.demand = demand;
        step.slot[0] = step.line[0] = line;
        at_ = at;
        socket_ = space_.socket(demand);
        offset_ = line % lines;
        reads_now_ = !demand.write && demand.purpose != Purpose::migration;
        planned_ = plan_.on() && reads_now_ ? plan_.of(demand.owner) : SitePlan::none;
        moves_ =
            reads_now_ && planned_ != SitePlan::keep_out && !(options_.bypass && rate_.above());
        if (!space_.near(line)) {
            far(line / lines - near_blocks_, step);
        } else if (line / lines < sets_.managed()) {
            native(line / lines, step);
        } else { // what is left over when near memory is dealt out to sets
            served(demand, true);
            step.key = line;
            steps_.add(step, at);
        }
    }
    Answer completed(uint64_t token, Ps at) { return steps_.completed(token, at); }

    nlohmann::json statistics() const {
        nlohmann::json all = steps_.json();
        served_.add_to(all);
        all["prefetched_lines"] = prefetched_;
        all["restored_blocks"] = restored_;
        all["locked_blocks"] = locks_;
        all["bypassed_reads"] = bypassed_;
        if (plan_.on()) {
            all["planned_blocks"] = planned_blocks_;
            all["kept_out_reads"] = kept_out_;
        }
        all["predictions"] = predictor_.predictions();
        all["right_predictions"] = predictor_.right();
        all["split"] = options_.split;
        all["cases"] = cases_.json();
        all["metadata_bytes"] = near_blocks_ * entry_bytes * space_.sockets();
        return all;
    }

  private:
    static constexpr uint64_t lines = 32;      // subblocks of a block
    static constexpr uint32_t entry_bytes = 8; // of a near block (section 5.1.4)

    static uint64_t reserved(const OrganisationConfig &config) {
        if (SilcOptions(config).metadata != SilcOptions::near)
            return 0;
        const uint64_t blocks = config.node_bytes[0] / (lines * memory_line_bytes);
        return (blocks * entry_bytes + FlatSpace::page - 1) / FlatSpace::page * FlatSpace::page;
    }
    // Whether any way has the bit.
    bool any(const SilcBlock *blocks) const {
        return std::any_of(blocks, blocks + sets_.ways(),
                           [this](const SilcBlock &each) { return each.has(offset_); });
    }

    uint64_t near_slot(uint32_t way, uint64_t offset) const {
        return sets_.near_block(set_, way) * lines + offset;
    }
    uint64_t far_slot(uint64_t block, uint64_t offset) const {
        return (near_blocks_ + block) * lines + offset;
    }

    SilcBlock *open(uint64_t set) {
        set_ = set;
        clock_++;
        return sets_.aged(socket_, set, uint32_t(clock_ / options_.aging), options_.threshold);
    }

    // A line of the near address range: the rows "mismatch, NM address: yes" of Table 5.1.
    void native(uint64_t number, Step &step) {
        const uint32_t way = sets_.way(number);
        SilcBlock &block = open(sets_.set(number))[way];
        const bool away = block.has(offset_);
        served(step.demand, !away);
        block.used = uint32_t(clock_);
        SilcBlock::count(block.near_count);
        cases_.native(away);
        const bool locks = hot(block, block.near_count) || directed(block, SilcBlock::near_locked);
        const bool comes = away && moves_ && (locks || block.lock != SilcBlock::far_locked);
        look_up(step, way, 1);
        if (locks || comes || options_.counters)
            step.lookup.update = 0;
        if (away)
            step.slot[0] = far_slot(block.remap - 1, offset_);
        if (comes) {
            exchange(block, way, offset_, step);
            block.bits &= ~(1u << offset_);
        }
        add(step, offset_);
        if (locks)
            lock(block, way, SilcBlock::near_locked, block.bits, step.demand);
    }

    // A line of the far address range: the other four.
    void far(uint64_t number, Step &step) {
        SilcBlock *blocks = open(sets_.set(number));
        uint32_t way = 0;
        while (way < sets_.ways() && blocks[way].remap != number + 1)
            way++;
        const bool match = way < sets_.ways(), near = match && blocks[way].has(offset_);
        served(step.demand, near);
        const bool kept_out = planned_ == SitePlan::keep_out;
        (kept_out ? kept_out_ : bypassed_) += reads_now_ && !moves_ && !near;
        cases_.far(match, match ? near : any(blocks));
        look_up(step, 0, sets_.ways());
        if (options_.predictor)
            predictor_.guess(step, offset_, way, sets_.ways(), near);
        if (!match && moves_)
            way = sets_.victim(blocks);
        if (way == sets_.ways()) { // all are locked, or nothing moves
            add(step, offset_);
            return;
        }
        SilcBlock &block = blocks[way];
        block.used = uint32_t(clock_);
        if (!match)
            block.far_count = 0;
        SilcBlock::count(block.far_count);
        const bool locks = hot(block, block.far_count) || directed(block, SilcBlock::far_locked);
        const bool comes = !near && moves_ && (locks || block.lock == SilcBlock::unlocked);
        if (locks || comes || options_.counters)
            step.lookup.update = options_.serial ? uint8_t(way) : 0;
        if (!match) {
            replace(block, way, number, step);
        } else {
            if (near)
                step.slot[0] = near_slot(way, offset_);
            if (comes) {
                exchange(block, way, offset_, step);
                block.bits |= 1u << offset_;
            }
            add(step, offset_);
        }
        if (locks)
            lock(block, way, SilcBlock::far_locked, ~block.bits, step.demand);
    }

    // --- Movement. ---
    // A subblock of the near block and one of the far block that it is remapped to change places,
    // one way or the other.  A demand's line is in the far slot.
    void exchange(const SilcBlock &block, uint32_t way, uint64_t offset, Step &step) const {
        const uint64_t near = near_slot(way, offset), far = far_slot(block.remap - 1, offset);
        step.count = 2;
        step.slot = {far, near, 0};
        step.line = {far, near, 0};
        if (block.has(offset))
            std::swap(step.line[0], step.line[1]);
    }
    // Another far block takes over: what is left of the last one goes home, and with the line that
    // is asked for come those that were used when the block was here before.
    void replace(SilcBlock &block, uint32_t way, uint64_t number, const Step &step) {
        const SilcBlock before = block;
        const uint32_t asked = 1u << offset_;
        block.history = SubblockHistory::index(step.demand.instruction, step.line[0]);
        if (options_.history && before.remap != 0)
            history_[before.history] = before.bits;
        block.remap = uint32_t(number + 1);
        block.bits = 0;
        const uint32_t wanted = asked | (options_.history ? history_[block.history] : 0);
        restored_ += before.bits != 0;
        prefetched_ += uint64_t(std::popcount(wanted & ~asked));
        for (uint64_t offset = 0; offset < lines; offset++) {
            const bool comes = wanted >> offset & 1;
            if (!comes && !before.has(offset))
                continue;
            Step each = offset == offset_ ? step : movement(step.demand);
            exchange(comes ? block : before, way, offset, each);
            if (comes && before.has(offset)) { // the near block's own subblock goes from one to the
                                               // other without coming home
                each.count = 3;
                each.slot[2] = each.line[1] = far_slot(before.remap - 1, offset);
                each.line[2] = near_slot(way, offset);
            }
            add(each, offset);
        }
        block.bits = wanted;
    }
    bool hot(const SilcBlock &block, uint8_t count) const {
        return options_.locking && moves_ && block.lock == SilcBlock::unlocked &&
               count > options_.threshold;
    }
    // Whether the plan locks the block in for the one that is read, which it is not yet.  The plan
    // goes before what was hot, but not before what it has locked itself, until a site that it
    // doesn't lock reads that: memory is given back, and to another.
    bool directed(SilcBlock &block, SilcBlock::Lock lock) const {
        if (!plan_.on() || !reads_now_)
            return false;
        const bool wanted = planned_ == SitePlan::lock;
        if (block.lock == lock)
            block.planned = wanted;
        return wanted && moves_ && !block.planned;
    }
    void lock(SilcBlock &block, uint32_t way, SilcBlock::Lock lock, uint32_t missing,
              const Demand &demand) {
        for (uint64_t offset = 0; offset < lines; offset++) {
            if ((missing >> offset & 1) == 0)
                continue;
            Step each = movement(demand);
            exchange(block, way, offset, each);
            add(each, offset);
        }
        block.bits ^= missing;
        block.lock = lock;
        block.planned = planned_ == SitePlan::lock;
        if (block.planned && lock == SilcBlock::near_locked)
            block.remap = 0; // for good: the far block may find another way
        (block.planned ? planned_blocks_ : locks_)++;
    }
    static Step movement(const Demand &demand) { // for nobody, on this demand's account
        Step step;
        step.demand = demand;
        step.demand.token = nobody;
        step.demand.purpose = Purpose::migration;
        return step;
    }
    void add(Step &step, uint64_t offset) {
        step.key = set_ * lines + offset; // whatever way, and whoever is remapped there
        steps_.add(step, at_);
    }

    // --- Entries. ---
    // So many of the set's, from that way on.
    void look_up(Step &step, uint32_t way, uint32_t count) const {
        if (options_.metadata == SilcOptions::free)
            return;
        const bool near = options_.metadata == SilcOptions::near;
        step.lookup.node = (near ? 0 : 2 * space_.sockets()) + socket_;
        step.lookup.address = (near ? space_.near_lines() * memory_line_bytes : 0) +
                              (set_ * sets_.ways() + way) * entry_bytes;
        step.lookup.bytes = options_.serial ? entry_bytes : count * entry_bytes;
        step.lookup.entries = options_.serial ? uint8_t(count) : 1;
    }
    void served(const Demand &demand, bool near) {
        served_.count(demand, near);
        if (reads_now_)
            rate_.count(near);
    }

    const FlatSpace space_;
    const SilcOptions options_;
    const uint64_t near_blocks_;
    SilcSets sets_;
    SitePlan plan_;
    LocationPredictor predictor_;
    SubblockHistory history_;
    AccessRate rate_;
    Steps<Router> steps_;

    // Of the demand that is being served.
    Ps at_ = 0;
    uint32_t socket_ = 0;
    uint64_t set_ = 0, offset_ = 0;
    bool reads_now_ = false;                       // a read of the program's
    bool moves_ = false;                           // and lines may move for it
    SitePlan::Directive planned_ = SitePlan::none; // for its site
    uint64_t clock_ = 0;                           // accesses so far

    AccessCounts served_;
    SilcCases cases_;
    uint64_t prefetched_ = 0, restored_ = 0, locks_ = 0, bypassed_ = 0, planned_blocks_ = 0,
             kept_out_ = 0;
};

} // namespace thermocline
