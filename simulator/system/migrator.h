// Moves pages as the placement policy asks, in simulated time.  Each of a few copiers (threads of
// the kernel, on processors that run nothing else) does one operation after the other:
//
//   1. the pages are unmapped and every core stands still for the shootdown;
//   2. the kernel works for the operation's time;
//   3. line by line, so many on their way at a time, what is read from the old frame is written
//      to the new one; pages that change places are read both before either is written;
//   4. when the last line has been sent, the pages are mapped where they are now.
//
// From 1 to 4 whoever asks memory for a line of these pages, or writes one back, waits.
//
// `Machine` is the system:
//   void copy(Demand, Ps at)            a line of a copier, read or written
//   void pause(Ps at, Ps for_so_long)   all cores
//   void release(Demand, line, Ps at)   what hold() kept
#pragma once
#include "simulator/organisation/demand.h"
#include "simulator/placement/placement.h"
#include <algorithm>
#include <deque>

namespace thermocline {

struct MigrationStatistics {
    bool migrates = false;
    Ps epoch = 0; // the length of one
    uint64_t epochs = 0;
    uint64_t operations = 0, pages = 0; // pages: that changed frames
    uint64_t refused = 0;               // operations without room, or with busy pages
    uint64_t forgotten = 0;             // not begun when the epoch, or the program, ended
    uint64_t held = 0;                  // reads and write-backs that had to wait
    Ps paused = 0;                      // each core
};

class Migrator {
  public:
    // What completes with this bit in its token is a line of a copier.
    static constexpr uint64_t token_bit = uint64_t(1) << 63;

    // `least`: what the kernel's work takes at least, so that what is on its way to the old frame
    // gets there before its copying.
    Migrator(Placement &placement, Ps least)
        : placement_(placement), rules_(placement.rules()), on_(placement.migrates()),
          copiers_(on_ ? rules_.copiers : 0) {
        rules_.operation = std::max(rules_.operation, least);
        epoch_end_ = rules_.epoch ? rules_.epoch : never;
        next_ = epoch_end_;
        statistics_.migrates = on_;
        statistics_.epoch = rules_.epoch;
    }

    bool on() const { return on_; }
    Ps next() const { return next_; }
    bool active() const { // pages are on their way
        return std::any_of(copiers_.begin(), copiers_.end(),
                           [](const Copier &each) { return each.state != Copier::idle; });
    }
    const MigrationStatistics &statistics() const { return statistics_; }

    // A read or write-back of a page that is being moved, until it has been.
    void hold(const Demand &demand, uint64_t line) {
        held_.push_back({demand, line});
        statistics_.held++;
    }
    // A page has reached the threshold at that time.
    void wake(Ps at) {
        wake_ = at;
        next_ = std::min(next_, at);
    }
    // The program is over: no operation begins any more.
    void stop() {
        statistics_.forgotten += queue_.size();
        queue_.clear();
        epoch_end_ = never;
        look();
    }

    // Does what is due.
    template <class Machine> void run(Ps now, Machine &machine) {
        if (now >= epoch_end_) {
            epoch_end_ += rules_.epoch;
            ready_ = now + placement_.pages() * rules_.sweep;
            statistics_.epochs++;
            statistics_.forgotten += queue_.size();
            queue_.clear();
            add(placement_.end_epoch());
        }
        if (placement_.reached())
            add(placement_.ask_reached());
        for (Copier &copier : copiers_) {
            if (copier.at > now)
                continue;
            if (copier.state == Copier::ending)
                end(copier, now, machine);
            else if (copier.state == Copier::working)
                copy(copier, now, machine);
        }
        for (Copier &copier : copiers_)
            if (copier.state == Copier::idle && now >= ready_)
                begin(copier, now, machine);
        look();
    }

    // A line has been read.
    template <class Machine> void arrived(uint64_t token, Ps at, Machine &machine) {
        const uint32_t index = uint32_t(token);
        Line &line = lines_[index];
        line.latest = std::max(line.latest, at);
        if (--line.missing != 0)
            return;
        const Line done = line; // what follows may make more of them
        free_.push_back(index);
        Copier &copier = copiers_[done.copier];
        const PageCopy &copy = copier.copies[done.copy];
        send(copy.to, done.offset, copy.owner, nobody, done.latest, machine);
        if (copy.other != PageCopy::no_page)
            send(copy.from, done.offset, copy.other_owner, nobody, done.latest, machine);
        copier.latest = std::max(copier.latest, done.latest);
        copier.on_way--;
        read(copier, done.latest, machine);
        if (copier.on_way == 0) {
            copier.state = Copier::ending;
            copier.at = copier.latest;
            look();
        }
    }

  private:
    struct Copier {
        enum State { idle, working, copying, ending } state = idle;
        Ps at = never; // when it goes on, if that is known
        std::vector<PageCopy> copies;
        size_t copy = 0;     // the next line to read
        uint64_t offset = 0; // in its page
        uint32_t on_way = 0;
        Ps latest = 0;
    };
    struct Line { // on its way, or two that change places
        uint32_t copier, missing;
        size_t copy;
        uint64_t offset;
        Ps latest;
    };
    struct Held {
        Demand demand;
        uint64_t line;
    };

    void add(std::vector<Operation> operations) {
        for (Operation &each : operations)
            queue_.push_back(std::move(each));
    }

    template <class Machine> void begin(Copier &copier, Ps now, Machine &machine) {
        while (!queue_.empty()) {
            const bool possible = placement_.begin(queue_.front(), copier.copies);
            queue_.pop_front();
            if (!possible) {
                statistics_.refused++;
                continue;
            }
            statistics_.operations++;
            for (const PageCopy &each : copier.copies)
                statistics_.pages += each.other == PageCopy::no_page ? 1 : 2;
            statistics_.paused += rules_.shootdown;
            machine.pause(now, rules_.shootdown);
            copier.state = Copier::working;
            copier.at = now + rules_.operation;
            return;
        }
    }

    template <class Machine> void copy(Copier &copier, Ps now, Machine &machine) {
        copier.state = Copier::copying;
        copier.at = never;
        copier.copy = copier.offset = 0;
        copier.latest = now;
        while (copier.on_way < rules_.lines && copier.copy < copier.copies.size())
            read(copier, now, machine);
    }

    // The copier's next line.
    template <class Machine> void read(Copier &copier, Ps at, Machine &machine) {
        if (copier.copy == copier.copies.size())
            return;
        if (free_.empty()) {
            free_.push_back(uint32_t(lines_.size()));
            lines_.emplace_back();
        }
        const uint32_t index = free_.back();
        free_.pop_back();
        const PageCopy &copy = copier.copies[copier.copy];
        const bool two = copy.other != PageCopy::no_page;
        const uint64_t offset = copier.offset;
        lines_[index] = {uint32_t(&copier - copiers_.data()), two ? 2u : 1u, copier.copy, offset,
                         at};
        copier.on_way++;
        copier.offset = (offset + memory_line_bytes) % page_bytes;
        copier.copy += copier.offset == 0;
        send(copy.from, offset, copy.owner, token_bit | index, at, machine);
        if (two)
            send(copy.to, offset, copy.other_owner, token_bit | index, at, machine);
    }

    template <class Machine>
    void send(const Place &page, uint64_t offset, uint32_t owner, uint64_t token, Ps at,
              Machine &machine) {
        Demand demand;
        demand.node = page.node;
        demand.address = page.address + offset;
        demand.token = token;
        demand.owner = owner;
        demand.instruction = UINT32_MAX;
        demand.write = token == nobody;
        demand.purpose = Purpose::migration;
        machine.copy(demand, at);
    }

    template <class Machine> void end(Copier &copier, Ps now, Machine &machine) {
        placement_.finish(copier.copies);
        copier.state = Copier::idle;
        copier.at = never;
        size_t kept = 0;
        for (size_t i = 0; i < held_.size(); i++) {
            const Held each = held_[i];
            if (placement_.look(each.line * memory_line_bytes).busy)
                held_[kept++] = each;
            else
                machine.release(each.demand, each.line, now);
        }
        held_.resize(kept);
    }

    // When something is due next.
    void look() {
        next_ = placement_.reached() ? std::min(epoch_end_, wake_) : epoch_end_;
        bool idle = false;
        for (const Copier &copier : copiers_) {
            next_ = std::min(next_, copier.at);
            idle |= copier.state == Copier::idle;
        }
        if (idle && !queue_.empty())
            next_ = std::min(next_, ready_);
    }

    Placement &placement_;
    MigrationRules rules_;
    const bool on_;
    std::vector<Copier> copiers_;
    std::vector<Line> lines_;
    std::vector<uint32_t> free_;
    std::deque<Operation> queue_;
    std::vector<Held> held_;
    Ps epoch_end_ = never, ready_ = 0, wake_ = never, next_ = never;
    MigrationStatistics statistics_;
};

} // namespace thermocline
