// An out-of-order core, in the manner of interval simulation: instructions that refer to no
// memory take a share of a cycle each, and what is computed is when each reference is
// dispatched, issued, completed and retired.  docs/simulator.md has the rules.
//
// `Source` hands out the thread's references; `Below` is the caches and memories:
//   Access access(core, line, reference, Ps at)    the caches' contents change here
//   Ps request(access.below, core, fill, Ps at)    the line is asked for; its arrival or never
//   void abandon(access.below, Ps at)               in place of that: nobody will wait for it
//   uint32_t translate(core, line, reference, Ps at)  a translation to wait for, or none; before
//                                                   the access, and TLBs' contents change here
//   Ps translated(translation, core, place, Ps at)  the address is known; when its translation is
//                                                   there, or never: the core is told
//   void expect(core, line)                         it will be referred to soon
//   Ps horizon()                                    no later than the next event of anything else
#pragma once
#include "simulator/core/fills.h"
#include "simulator/core/parameters.h"
#include "simulator/trace/reference.h"
#include <bit>
#include <utility>
#include <vector>

namespace thermocline {

// Where a line was found: a level, counted from 0, or the number of levels: memory.  `below` is
// the memory's fill if the line is not there yet.
struct Access {
    uint32_t level = 0;
    uint32_t below = none;
};

// The references whose values a reference waits for: so many references back.
struct Producers {
    static constexpr uint32_t most = 4;
    uint32_t count = 0;
    uint32_t distance[most];
};

struct CoreStatistics {
    uint64_t instructions = 0, references = 0, lines = 0; // lines: a reference touches one or more
    Tick finish = 0;
    std::vector<Tick> stall; // by owner: by how much its references put off retirement
};

template <class Source, class Below> class Core {
  public:
    Core(uint32_t number, const CoreParameters &parameters, const std::vector<Ps> &latency,
         Source &source, Below &below)
        : number_(number), cost_(parameters.instruction()), window_(parameters.window),
          store_buffer_(parameters.store_buffer), source_(source), below_(below),
          fills_(parameters.outstanding), ring_(std::bit_ceil(2 * size_t(parameters.window) + 2)),
          mask_(ring_.size() - 1), last_line_(ring_.size(), 0) {
        for (Ps each : latency)
            latency_.push_back(ticks(each));
        ring_[0].complete = 0; // before the first reference
        have_ = fetch();
    }

    // Does all that it can before the horizon; returns when it wants to go on.
    Ps run() {
        for (;;) {
            Tick dispatch = next_dispatch();
            const Tick want = fills_.next_want();
            const Tick time = std::min(dispatch, want);
            if (time == unknown || time > ticks(below_.horizon()))
                return ceil_ps(time);
            if (time >= fills_.next_arrival()) {
                const uint32_t freed = fills_.settle(time);
                if (freed > 0 && stores_ >= store_buffer_)
                    stores_freed_ = time;
                stores_ -= freed;
                if (want > dispatch)
                    dispatch = next_dispatch(); // perhaps blocked still
            }
            if (want == time)
                issue(fills_.take_want(), want);
            else if (dispatch == time)
                dispatch_line(dispatch);
        }
    }

    // The line that a fill waits for comes.
    void arrived(uint32_t fill, Ps at) {
        deliver(fill, ticks(at));
        work();
    }

    // The translation that a reference in the window waits for is there.
    void translated(uint32_t place, Ps at) {
        ring_[place].ready = std::max(ring_[place].ready, ticks(at));
        proceed(place, 0);
        work();
    }

    // It does something else for so long; what is on its way comes nonetheless.
    void pause(Ps at, Ps length) {
        const Tick due = dispatched_ + slots_ * cost_;
        paused_ = std::max({paused_, due, ticks(at)}) + ticks(length);
    }

    bool done() {
        retire();
        return !have_ && retired_ == count_;
    }
    const CoreStatistics &statistics() const { return statistics_; }

  private:
    struct Slot {              // a line of a reference in the window
        uint64_t position = 0; // in the stream of instructions, this one included
        Tick complete = unknown, retired = 0, ready = 0;
        uint64_t producers[Producers::most];
        uint32_t waiters = none; // references that this is a producer of
        uint32_t next = none;    // in the one list that this is in
        uint32_t fill = none;
        uint32_t translation = none; // that it has yet to wait for
        uint32_t owner = 0;
        uint8_t unfinished = 0; // of the producers: the first so many
        bool store = false;
    };
    Slot &slot(uint64_t sequence) { return ring_[sequence & mask_]; }

    bool fetch() {
        do
            if (!source_.next(reference_, producers_))
                return false;
        while (reference_.event != TraceEvent::reference);
        line_ = reference_.address / line_bytes;
        last_ = (reference_.address + std::max(reference_.bytes, 1u) - 1) / line_bytes;
        slots_ = uint64_t(reference_.gap) + 1;
        statistics_.instructions += slots_;
        statistics_.references++;
        references_++;
        below_.expect(number_, line_);
        return true;
    }

    // When the line that is next can enter the window.
    Tick next_dispatch() {
        if (!have_)
            return unknown;
        Tick at = std::max(dispatched_ + slots_ * cost_, paused_);
        const uint64_t position = position_ + slots_;
        if (position > window_) {
            const uint64_t leaves = position - window_; // has to have left
            while (edge_ + 1 < count_ && slot(edge_ + 1).position <= leaves)
                edge_++;
            if (edge_ >= retired_) {
                retire();
                if (edge_ >= retired_)
                    return unknown;
            }
            at = std::max(at, slot(edge_).retired + (leaves - slot(edge_).position) * cost_);
        }
        if (!reference_.store)
            return at;
        return std::max(at, stores_ < store_buffer_ ? stores_freed_ : fills_.next_arrival());
    }

    void dispatch_line(Tick now) {
        const uint64_t sequence = count_++;
        Slot &mine = slot(sequence);
        mine = Slot{};
        mine.position = position_ += slots_;
        mine.ready = dispatched_ = now;
        mine.owner = reference_.owner;
        mine.store = reference_.store;
        for (uint32_t i = 0; i < producers_.count; i++) {
            const uint32_t distance = producers_.distance[i];
            if (distance > mask_ || distance >= references_)
                continue; // has left the window long ago
            const uint64_t producer = last_line_[(references_ - distance) & mask_];
            if (sequence - producer > mask_)
                continue;
            // What is complete has its place in the ring for now only; the others keep theirs for
            // as long as this waits.
            if (const Tick complete = slot(producer).complete; complete != unknown)
                mine.ready = std::max(mine.ready, complete);
            else
                mine.producers[mine.unfinished++] = producer;
        }
        last_line_[references_ & mask_] = sequence;
        statistics_.lines++;

        mine.translation = below_.translate(number_, line_, reference_, ceil_ps(now));
        const Access access = below_.access(number_, line_, reference_, ceil_ps(now));
        uint32_t fill = fills_.find(line_);
        if (access.level > 0 && fill == none) {
            fill = fills_.add(line_);
            fills_[fill].level = uint8_t(access.level);
            fills_[fill].below = access.below;
        } else if (access.below != none) {
            below_.abandon(access.below, ceil_ps(now)); // left the caches before it had come
        }
        mine.fill = fill;
        if (fill != none) {
            fills_[fill].holders++;
            if (mine.store)
                stores_++;
        }
        if (!wait_for_producer(sequence))
            proceed(sequence, now);
        work();
        if (line_ < last_) {
            line_++;
            slots_ = 1;
        } else {
            have_ = fetch();
        }
    }

    // Whether a producer's completion is not certain yet; it then wakes this.
    bool wait_for_producer(uint64_t sequence) {
        Slot &mine = slot(sequence);
        while (mine.unfinished > 0) {
            Slot &producer = slot(mine.producers[--mine.unfinished]);
            if (producer.complete == unknown) {
                mine.next = producer.waiters;
                producer.waiters = uint32_t(sequence & mask_);
                return true;
            }
            mine.ready = std::max(mine.ready, producer.complete);
        }
        return false;
    }

    // Its address is known, from `ready` on.  `now`: what has happened may not be asked for again.
    void proceed(uint64_t sequence, Tick now) {
        Slot &mine = slot(sequence);
        if (mine.translation != none) [[unlikely]] {
            const Ps at = below_.translated(std::exchange(mine.translation, none), number_,
                                            uint32_t(sequence & mask_), ceil_ps(mine.ready));
            if (at == never)
                return; // translated() goes on
            mine.ready = std::max(mine.ready, ticks(at));
        }
        const uint32_t index = mine.fill;
        if (index == none) {
            finish(sequence, mine.store ? mine.ready : mine.ready + latency_[0]);
            return;
        }
        Fill &fill = fills_[index];
        if (fill.state == Fill::idle || fill.state == Fill::wanted) {
            if (mine.ready <= now && !fills_.full() && !fills_.wanting())
                issue(index, mine.ready);
            else
                fills_.want(index, mine.ready);
        }
        if (mine.store) {
            if (fill.state == Fill::arrived)
                stores_--;
            else
                fill.stores++;
            finish(sequence, mine.ready);
        } else if (fill.arrival != unknown) {
            finish(sequence, std::max(mine.ready + latency_[0], fill.arrival));
        } else {
            mine.next = fill.waiters;
            fill.waiters = uint32_t(sequence & mask_);
        }
        fills_.let_go(index);
    }

    void issue(uint32_t index, Tick at) {
        fills_.issue(index);
        Fill &fill = fills_[index];
        if (fill.below == none) {
            deliver(index, at + latency_[std::min<size_t>(fill.level, latency_.size() - 1)]);
            work();
            return;
        }
        const Ps known = below_.request(fill.below, number_, index, ceil_ps(at));
        if (known != never) {
            const size_t level = std::min<size_t>(fill.level, latency_.size() - 1);
            deliver(index, std::max(ticks(known), at + latency_[level]));
            work();
        }
    }

    void deliver(uint32_t index, Tick at) {
        fills_.arrives(index, at);
        uint32_t waiter = fills_[index].waiters;
        fills_[index].waiters = none;
        while (waiter != none) {
            const uint32_t next = ring_[waiter].next;
            finish(waiter, std::max(ring_[waiter].ready + latency_[0], at));
            waiter = next;
        }
    }

    // `sequence`, or the place in the ring.
    void finish(uint64_t sequence, Tick at) {
        slot(sequence).complete = at;
        if (slot(sequence).waiters != none)
            finished_.push_back(uint32_t(sequence & mask_));
    }
    // Wakes those that waited for what has finished; a list, since chains are long.
    void work() {
        while (!finished_.empty()) {
            Slot &producer = ring_[finished_.back()];
            finished_.pop_back();
            uint32_t waiter = producer.waiters;
            producer.waiters = none;
            while (waiter != none) {
                Slot &mine = ring_[waiter];
                const uint32_t next = mine.next;
                mine.ready = std::max(mine.ready, producer.complete);
                if (!wait_for_producer(waiter))
                    proceed(waiter, 0);
                waiter = next;
            }
        }
    }

    void retire() {
        for (; retired_ < count_ && slot(retired_).complete != unknown; retired_++) {
            Slot &mine = slot(retired_);
            const Slot &before = slot(retired_ - 1);
            const Tick earliest = before.retired + (mine.position - before.position) * cost_;
            mine.retired = std::max(earliest, mine.complete);
            if (mine.retired > earliest) {
                if (mine.owner >= statistics_.stall.size())
                    statistics_.stall.resize(mine.owner + 1);
                statistics_.stall[mine.owner] += mine.retired - earliest;
            }
            statistics_.finish = mine.retired;
        }
    }

    static constexpr uint64_t line_bytes = 64;
    const uint32_t number_;
    const Tick cost_;
    const uint64_t window_;
    const uint32_t store_buffer_;
    std::vector<Tick> latency_; // of each level
    Source &source_;
    Below &below_;
    Fills fills_;
    std::vector<Slot> ring_; // by sequence; the first, before all references, is number 0
    const uint64_t mask_;
    std::vector<uint64_t> last_line_; // of a reference: its last line's sequence
    std::vector<uint32_t> finished_;
    uint64_t count_ = 1, retired_ = 1, edge_ = 0; // edge: last that left the window
    uint64_t position_ = 0, references_ = 0;
    Tick dispatched_ = 0, paused_ = 0;
    uint32_t stores_ = 0;   // entries of the store buffer in use
    Tick stores_freed_ = 0; // when it was full for the last time

    // What enters the window next.
    bool have_ = false;
    Reference reference_;
    Producers producers_;
    uint64_t line_ = 0, last_ = 0, slots_ = 0;
    CoreStatistics statistics_;
};

} // namespace thermocline
