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
// Of policies with faults each thread is its own copier: what it touched in far memory is brought
// near by itself, one fault after the other, and every operation on the way is the policy's answer
// to one question: what has to be done next for this page.
//
// `Machine` is the system:
//   void copy(Demand, Ps at)            a line of a copier, read or written
//   void pause(Ps at, Ps for_so_long)   all cores
//   void release(Demand, line, Ps at)   what hold() kept
#pragma once
#include "simulator/memory/config.h"
#include "simulator/organisation/demand.h"
#include "simulator/placement/placement.h"
#include <algorithm>
#include <deque>
#include <optional>

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
    Ps serving = 0;                     // threads' time from a fault's beginning to its end
};

class Migrator {
  public:
    // What completes with this bit in its token is a line of a copier.
    static constexpr uint64_t token_bit = uint64_t(1) << 63;

    // `least`: what the kernel's work takes at least, so that what is on its way to the old frame
    // gets there before its copying.
    Migrator(Placement &placement, Ps least, size_t threads)
        : placement_(placement), rules_(placement.rules()), on_(placement.migrates()),
          least_(least), copiers_(on_ ? rules_.faults ? threads : rules_.copiers : 0) {
        rules_.operation = std::max(rules_.operation, least);
        epoch_end_ = rules_.epoch ? rules_.epoch : never;
        next_ = epoch_end_;
        statistics_.migrates = on_;
        statistics_.epoch = rules_.epoch;
    }

    bool on() const { return on_; }
    bool faults() const { return rules_.faults; }
    bool warm(uint64_t references) const { return references < rules_.warm; }
    Ps next() const { return next_; }
    bool active() const { // pages are on their way, or have to be
        return std::any_of(copiers_.begin(), copiers_.end(), [](const Copier &each) {
            return each.state != Copier::idle || !each.faults.empty();
        });
    }
    const MigrationStatistics &statistics() const { return statistics_; }

    // A read or write-back of a page that is being moved, until it has been.
    void hold(const Demand &demand, uint64_t line) {
        held_.push_back({demand, line});
        statistics_.held++;
    }
    // A thread touches a far page; its demand is held.
    void fault(uint32_t thread, uint64_t page, Ps at) {
        Copier &copier = copiers_[thread];
        for (const Fault &each : copier.faults)
            if (each.page == page)
                return;
        copier.faults.push_back({page, at});
        look();
    }
    // The same before anything costs time.
    void bring_at_once(uint64_t page, Ps at) {
        std::vector<PageCopy> copies;
        while (far(page)) {
            const FaultStep step = placement_.fault(page, at);
            if (step.operation.empty() || !placement_.begin(step.operation, copies))
                no_room();
            placement_.finish(copies);
            placement_.done(step.about, step.work);
        }
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
            if (copier.state == Copier::idle && rules_.faults)
                serve(copier, now, machine);
            else if (copier.state == Copier::idle && now >= ready_)
                begin(copier, now, machine);
        look();
        if (rules_.faults && next_ == never && !copying() && active())
            no_room();
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
    struct Fault {
        uint64_t page;
        Ps at;
    };
    struct Copier {
        enum State { idle, working, copying, ending } state = idle;
        Ps at = never; // when it goes on, if that is known
        std::vector<PageCopy> copies;
        size_t copy = 0;     // the next line to read
        uint64_t offset = 0; // in its page
        uint32_t on_way = 0;
        Ps latest = 0;
        std::deque<Fault> faults; // of its thread
        bool blocked = false;     // until another's operation has ended
        Ps began = 0;
        uint64_t about = 0;
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

    bool asks(const Demand &demand) const {
        return rules_.faults && !demand.write && demand.purpose == Purpose::demand;
    }
    void add(std::vector<Operation> operations) {
        for (Operation &each : operations)
            queue_.push_back(std::move(each));
    }

    bool far(uint64_t page) const {
        const std::optional<PageUse> use = placement_.use(page);
        return use && use->tier != 0;
    }
    bool copying() const {
        return std::any_of(copiers_.begin(), copiers_.end(),
                           [](const Copier &each) { return each.state != Copier::idle; });
    }
    [[noreturn]] static void no_room() {
        throw ConfigError("memory has no room for pages to move: give the machine more capacity");
    }

    // A thread's faults, one after the other, each in as many operations as it takes.
    template <class Machine> void serve(Copier &copier, Ps now, Machine &machine) {
        copier.blocked = false;
        while (!copier.faults.empty() && copier.faults.front().at <= now) {
            const Fault fault = copier.faults.front();
            if (!far(fault.page)) { // and released when it came
                copier.faults.pop_front();
                continue;
            }
            copier.blocked = placement_.use(fault.page)->busy;
            if (copier.blocked)
                return;
            if (rules_.warm > 0) {
                placement_.warmed();
                rules_.warm = 0;
            }
            const FaultStep step = placement_.fault(fault.page, now);
            copier.blocked = step.operation.empty();
            if (copier.blocked)
                return;
            if (!placement_.begin(step.operation, copier.copies))
                no_room();
            copier.about = step.about;
            start(copier, now, step.work, step.shootdown, machine);
            return;
        }
    }

    template <class Machine> void begin(Copier &copier, Ps now, Machine &machine) {
        while (!queue_.empty()) {
            const bool possible = placement_.begin(queue_.front(), copier.copies);
            queue_.pop_front();
            if (!possible) {
                statistics_.refused++;
                continue;
            }
            start(copier, now, rules_.operation, rules_.shootdown, machine);
            return;
        }
    }

    template <class Machine>
    void start(Copier &copier, Ps now, Ps work, Ps shootdown, Machine &machine) {
        statistics_.operations++;
        for (const PageCopy &each : copier.copies)
            statistics_.pages += each.other == PageCopy::no_page ? 1 : 2;
        statistics_.paused += shootdown;
        if (shootdown > 0)
            machine.pause(now, shootdown);
        copier.state = Copier::working;
        copier.began = now;
        copier.at = now + std::max(work, least_);
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
        if (rules_.faults) {
            placement_.done(copier.about, now - copier.began);
            statistics_.serving += now - copier.began;
        }
        size_t kept = 0;
        for (size_t i = 0; i < held_.size(); i++) {
            const Held each = held_[i];
            const uint64_t page = each.line * memory_line_bytes / page_bytes;
            const bool busy = placement_.look(each.line * memory_line_bytes).busy;
            const bool waits = !busy && asks(each.demand) && far(page);
            if (waits) // went far while it was held
                fault(each.demand.core, page, now);
            if (busy || waits)
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
            if (copier.state == Copier::idle && !copier.faults.empty() && !copier.blocked)
                next_ = std::min(next_, copier.faults.front().at);
        }
        if (idle && !queue_.empty())
            next_ = std::min(next_, ready_);
    }

    Placement &placement_;
    MigrationRules rules_;
    const bool on_;
    const Ps least_;
    std::vector<Copier> copiers_;
    std::vector<Line> lines_;
    std::vector<uint32_t> free_;
    std::deque<Operation> queue_;
    std::vector<Held> held_;
    Ps epoch_end_ = never, ready_ = 0, wake_ = never, next_ = never;
    MigrationStatistics statistics_;
};

} // namespace thermocline
