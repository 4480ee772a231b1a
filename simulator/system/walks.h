// When translations are there: a core's references wait for the second-level TLB, or for a walker
// that makes the references of a miss one after the other, in time.  A core has so many walkers;
// misses beyond these wait, first come, first served.  Whoever refers to a page whose translation
// is on its way waits for that.
//
// `Machine` is the system:
//   WalkReference walk_reference(thread, owner, line, Via, Ps at)  caches' contents change here
//   Ps request(transfer, thread, waiter, Ps at)      as of a core; waiters have waiter_bit
//   void store(thread, owner, line, Ps at)           a line that nobody waits for
//   void translated(thread, place, Ps at)            wakes a reference
#pragma once
#include "simulator/core/fills.h"
#include "simulator/memory/config.h"
#include "simulator/memory/statistics.h"
#include "simulator/organisation/demand.h"
#include "simulator/translation/translation.h"
#include <deque>

namespace thermocline {

struct WalkReference {
    uint32_t level = 0;       // that had the line; the number of levels: memory
    uint32_t transfer = none; // to wait for
};

struct OwnerMisses {
    uint64_t misses = 0; // of the second level
    Ps penalty = 0;      // how long walkers were at them
};

struct MissStatistics {
    std::vector<uint64_t> found; // references by the level that had them; last: memory
    uint64_t stores = 0;
    uint64_t waited = 0; // references that found the page's translation on its way
    Histogram penalty;   // of each miss of the second level: how long a walker was at it
    Ps queued = 0;       // until a walker was free, in all
    std::vector<OwnerMisses> owners; // of the references that missed
};

template <class Machine> class Walks final : public References {
  public:
    static constexpr uint32_t waiter_bit = 1u << 31;

    Walks(const TranslationConfig &config, const std::vector<Ps> &latency, uint32_t threads,
          Machine &machine)
        : translation_(config, threads), latency_(latency), machine_(machine),
          spaces_(config.spaces), free_(threads, std::vector<Ps>(config.walkers, 0)),
          open_(threads), queue_(threads) {
        spaces_.resize(threads);
        statistics_.found.resize(latency.size() + 1);
    }

    const Translation &translation() const { return translation_; }
    const MissStatistics &statistics() const { return statistics_; }
    void shoot_down(uint64_t address) { translation_.shoot_down(address); }

    // What the reference will have to wait for; TLBs and caches change.
    uint32_t translate(uint32_t thread, uint64_t address, uint32_t owner, Ps at) {
        if (Kept::holds(address)) [[unlikely]]
            throw ConfigError("the program refers to an address that translation keeps for page "
                              "tables: simulate it without --translation");
        thread_ = thread;
        owner_ = owner;
        at_ = at;
        making_ = none;
        after_ = 0;
        const uint32_t space = spaces_[thread];
        const ServedBy served = translation_.look_up(thread, space, address, *this).served;
        std::vector<Open> &open = open_[thread];
        if (!open.empty()) {
            settle(open, at);
            if (served != ServedBy::missed)
                if (const uint32_t walk = find(open, key(space, address)); walk != none) {
                    pool_[walk].users++;
                    statistics_.waited++;
                    return served == ServedBy::second ? walk | second_bit : walk;
                }
        }
        if (served == ServedBy::first)
            return none;
        if (served == ServedBy::second)
            return add();
        pool_[making_].after = after_;
        pool_[making_].open = true;
        if (owner >= statistics_.owners.size())
            statistics_.owners.resize(owner + 1);
        statistics_.owners[owner].misses++;
        open.push_back({key(space, address), making_});
        return making_;
    }

    // A reference's address is known.  When its translation is there, or never: it is woken.
    Ps translated(uint32_t translation, uint32_t place, Ps at) {
        const uint32_t index = translation & ~second_bit;
        if (translation & second_bit)
            at += translation_.second_ps();
        Walk &walk = pool_[index];
        if (walk.asked == never) {
            walk.asked = at;
            if (walk.steps.empty())
                walk.finish = at + translation_.second_ps();
            else
                begin(index);
        }
        if (walk.finish == never) {
            walk.waiters.push_back(place);
            return never;
        }
        const Ps finish = walk.finish;
        let_go(index);
        return std::max(finish, at);
    }

    // The line that a walk waits for comes.
    void arrived(uint32_t index, Ps at) {
        Walk &walk = pool_[index];
        walk.now = std::max(walk.now + latency_.back(), at);
        walk.next++;
        go_on(index);
    }

    // --- What the translation refers to. ---
    uint32_t refer(uint64_t address, Via via, Ps after) override {
        if (making_ == none)
            making_ = add();
        const uint64_t line = address / memory_line_bytes;
        Step step{line, {}, after_ + after, via == Via::write};
        after_ = 0;
        uint32_t level = memory_level();
        if (step.write) {
            statistics_.stores++;
        } else {
            step.reference = machine_.walk_reference(thread_, owner_, line, via, at_);
            level = step.reference.level;
            statistics_.found[level]++;
        }
        pool_[making_].steps.push_back(step);
        return level;
    }
    uint32_t memory_level() const override { return uint32_t(latency_.size()); }
    void pass(Ps time) override { after_ += time; }

  private:
    // Of a translation: when its walk is over, the second level still has to be asked.
    static constexpr uint32_t second_bit = 1u << 31;
    struct Step {
        uint64_t line;
        WalkReference reference;
        Ps after; // what passes before it
        bool write;
    };
    struct Walk {
        std::vector<Step> steps;       // none: the second-level TLB has it
        std::vector<uint32_t> waiters; // references, by their places in the core's window
        size_t next = 0;               // step
        Ps after = 0;                  // what passes after the last
        Ps asked = never, begun = 0, now = 0, finish = never;
        uint32_t thread = 0, owner = 0, walker = 0;
        uint32_t users = 1; // references that have yet to be told
        bool open = false;
    };
    struct Open {
        uint64_t key;
        uint32_t walk;
    };

    uint64_t key(uint32_t space, uint64_t address) const {
        return Page::of(address, space, translation_.config().pages.of(address, space)).key();
    }
    static uint32_t find(const std::vector<Open> &open, uint64_t key) {
        for (size_t i = open.size(); i-- > 0;) // the last, after a shootdown
            if (open[i].key == key)
                return open[i].walk;
        return none;
    }
    // What is there by now is nothing to wait for.
    void settle(std::vector<Open> &open, Ps at) {
        std::erase_if(open, [&](const Open &each) {
            Walk &walk = pool_[each.walk];
            if (walk.finish > at)
                return false;
            walk.open = false;
            release(each.walk);
            return true;
        });
    }

    uint32_t add() {
        if (unused_.empty()) {
            unused_.push_back(uint32_t(pool_.size()));
            pool_.emplace_back();
        }
        const uint32_t index = unused_.back();
        unused_.pop_back();
        Walk &walk = pool_[index];
        std::vector<Step> steps = std::move(walk.steps); // keeps its memory
        steps.clear();
        walk = Walk{};
        walk.steps = std::move(steps);
        walk.thread = thread_;
        walk.owner = owner_;
        return index;
    }
    void let_go(uint32_t index) {
        pool_[index].users--;
        release(index);
    }
    void release(uint32_t index) {
        if (pool_[index].users == 0 && !pool_[index].open)
            unused_.push_back(index);
    }

    void begin(uint32_t index) {
        Walk &walk = pool_[index];
        std::vector<Ps> &free = free_[walk.thread];
        const size_t walker = first_free(walk.thread);
        if (free[walker] == never) {
            queue_[walk.thread].push_back(index);
            return;
        }
        walk.walker = uint32_t(walker);
        walk.now = std::max(walk.asked + translation_.second_ps(), free[walker]);
        walk.begun = walk.now;
        statistics_.queued += walk.begun - walk.asked - translation_.second_ps();
        free[walker] = never;
        go_on(index);
    }

    void go_on(uint32_t index) {
        Walk &walk = pool_[index];
        for (; walk.next < walk.steps.size(); walk.next++) {
            const Step &step = walk.steps[walk.next];
            walk.now += step.after;
            if (step.write) {
                machine_.store(walk.thread, walk.owner, step.line, walk.now);
                continue;
            }
            const size_t level = std::min<size_t>(step.reference.level, latency_.size() - 1);
            if (step.reference.transfer == none) {
                walk.now += latency_[level];
                continue;
            }
            const Ps here = machine_.request(step.reference.transfer, walk.thread,
                                             waiter_bit | index, walk.now);
            if (here == never)
                return; // arrived() goes on
            walk.now = std::max(walk.now + latency_[level], here);
        }
        walk.now += walk.after;
        finish(index);
    }

    void finish(uint32_t index) {
        Walk &walk = pool_[index];
        walk.finish = walk.now;
        statistics_.penalty.add(walk.finish - walk.begun);
        statistics_.owners[walk.owner].penalty += walk.finish - walk.begun;
        const uint32_t thread = walk.thread;
        const Ps at = walk.finish;
        free_[thread][walk.walker] = at;
        const std::vector<uint32_t> waiters = std::move(walk.waiters);
        for (uint32_t place : waiters) {
            let_go(index);
            machine_.translated(thread, place, at);
        }
        while (!queue_[thread].empty() && free_[thread][first_free(thread)] != never) {
            const uint32_t next = queue_[thread].front();
            queue_[thread].pop_front();
            begin(next);
        }
    }
    size_t first_free(uint32_t thread) const {
        const std::vector<Ps> &free = free_[thread];
        return size_t(std::min_element(free.begin(), free.end()) - free.begin());
    }

    Translation translation_;
    const std::vector<Ps> latency_;
    Machine &machine_;
    std::vector<uint32_t> spaces_;        // of each thread
    std::vector<std::vector<Ps>> free_;   // by thread and walker: from when on; never: not known
    std::vector<std::vector<Open>> open_; // by thread: misses that are not there yet
    std::vector<std::deque<uint32_t>> queue_; // by thread: misses that wait for a walker
    std::deque<Walk> pool_;
    std::vector<uint32_t> unused_;
    MissStatistics statistics_;

    // Of the translation that is being made.
    uint32_t thread_ = 0, owner_ = 0, making_ = none;
    Ps at_ = 0, after_ = 0;
};

} // namespace thermocline
