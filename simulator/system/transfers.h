// The lines on their way from memory into the caches, and who waits for each.  Whoever asks for
// a line that is on its way waits for that, on whatever core and cache level.
#pragma once
#include "simulator/core/fills.h"
#include "simulator/organisation/demand.h"
#include <array>
#include <deque>
#include <vector>

namespace thermocline {

struct Transfer {
    uint64_t line = 0;
    Demand demand;
    Ps arrival = never;
    uint32_t askers = 0; // fills that will ask for it
    uint32_t waiters = none;
    uint32_t next = none; // in the chain of its hash
    bool sent = false, listed = false;
};

class Transfers {
  public:
    Transfers() { heads_.fill(none); }

    Transfer &operator[](uint32_t index) { return pool_[index]; }

    // What is on its way at that time, or none.
    uint32_t find(uint64_t line) const {
        uint32_t at = heads_[hash(line)];
        while (at != none && pool_[at].line != line)
            at = pool_[at].next;
        return at;
    }

    uint32_t add(uint64_t line, const Demand &demand) {
        if (free_.empty()) {
            free_.push_back(uint32_t(pool_.size()));
            pool_.emplace_back();
        }
        const uint32_t index = free_.back();
        free_.pop_back();
        pool_[index] = Transfer{};
        pool_[index].line = line;
        pool_[index].demand = demand;
        pool_[index].next = heads_[hash(line)];
        pool_[index].listed = true;
        heads_[hash(line)] = index;
        return index;
    }

    void wait(uint32_t index, uint32_t core, uint32_t fill) {
        if (free_waiters_.empty()) {
            free_waiters_.push_back(uint32_t(waiters_.size()));
            waiters_.emplace_back();
        }
        const uint32_t waiter = free_waiters_.back();
        free_waiters_.pop_back();
        waiters_[waiter] = {core, fill, pool_[index].waiters};
        pool_[index].waiters = waiter;
    }

    // Calls wake(core, fill) for all that wait.
    template <class Wake> void arrives(uint32_t index, Ps at, Wake wake) {
        pool_[index].arrival = at;
        arrived_.push_back(index);
        uint32_t waiter = pool_[index].waiters;
        pool_[index].waiters = none;
        while (waiter != none) {
            const Waiter mine = waiters_[waiter];
            free_waiters_.push_back(waiter);
            wake(mine.core, mine.fill);
            waiter = mine.next;
        }
    }

    // What has arrived by now is in the caches and nothing special any more.
    void settle(Ps now) {
        while (!arrived_.empty() && pool_[arrived_.front()].arrival <= now) {
            unlink(arrived_.front());
            release(arrived_.front());
            arrived_.pop_front();
        }
    }
    void asked(uint32_t index) {
        pool_[index].askers--;
        release(index);
    }
    bool orphan(uint32_t index) const { return !pool_[index].sent && pool_[index].askers == 0; }

  private:
    struct Waiter {
        uint32_t core, fill, next;
    };
    static constexpr unsigned hash_bits = 12;
    static size_t hash(uint64_t line) {
        return size_t(line * 0x9e3779b97f4a7c15 >> (64 - hash_bits));
    }
    void unlink(uint32_t index) {
        uint32_t *at = &heads_[hash(pool_[index].line)];
        while (*at != index)
            at = &pool_[*at].next;
        *at = pool_[index].next;
        pool_[index].listed = false;
    }
    void release(uint32_t index) {
        if (!pool_[index].listed && pool_[index].askers == 0)
            free_.push_back(index);
    }

    std::vector<Transfer> pool_;
    std::vector<Waiter> waiters_;
    std::vector<uint32_t> free_, free_waiters_;
    std::deque<uint32_t> arrived_; // their data are here, or will be at a known time
    std::array<uint32_t, size_t(1) << hash_bits> heads_;
};

} // namespace thermocline
