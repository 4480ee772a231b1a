// The lines that one core's first level waits for (its miss status registers), and those
// that it will ask for once their addresses are known.
#pragma once
#include "simulator/core/parameters.h"
#include <algorithm>
#include <array>
#include <vector>

namespace thermocline {

constexpr uint32_t none = UINT32_MAX;

struct Fill {
    enum State : uint8_t { idle, wanted, issued, arrived };
    uint64_t line = 0;
    Tick arrival = unknown;
    uint32_t waiters = none; // loads, a list through the core's window
    uint32_t holders = 0;    // references that have yet to come to it
    uint32_t stores = 0;     // entries of the store buffer that its arrival frees
    uint32_t below = none;   // the memory's fill that it is part of
    uint32_t next = none;    // in the chain of its hash
    uint64_t want = 0;       // the order of the one want that counts
    Tick wanted_at = unknown;
    State state = idle;
    uint8_t level = 0; // the level that has it, or the number of levels: memory
};

// What wants a register, in the order of time.
struct Want {
    Tick time;
    uint64_t order;
    uint32_t fill;
    bool operator>(const Want &other) const {
        return time != other.time ? time > other.time : order > other.order;
    }
};

class Fills {
  public:
    explicit Fills(uint32_t outstanding) : outstanding_(outstanding) { heads_.fill(none); }

    Fill &operator[](uint32_t index) { return pool_[index]; }

    uint32_t find(uint64_t line) const {
        uint32_t at = heads_[hash(line)];
        while (at != none && pool_[at].line != line)
            at = pool_[at].next;
        return at;
    }

    uint32_t add(uint64_t line) {
        if (free_.empty()) {
            free_.push_back(uint32_t(pool_.size()));
            pool_.emplace_back();
        }
        const uint32_t index = free_.back();
        free_.pop_back();
        pool_[index] = Fill{};
        pool_[index].line = line;
        uint32_t &head = heads_[hash(line)];
        pool_[index].next = head;
        head = index;
        return index;
    }

    bool full() const { return issued_.size() >= outstanding_; }
    bool quiet() const { return issued_.empty() && wants_.empty(); }

    void want(uint32_t index, Tick time) {
        Fill &fill = pool_[index];
        if (fill.state == Fill::wanted && fill.wanted_at <= time)
            return;
        fill.state = Fill::wanted;
        fill.wanted_at = time;
        fill.want = ++order_;
        wants_.push_back({time, order_, index});
        std::push_heap(wants_.begin(), wants_.end(), std::greater<>());
    }
    // When the first one that wants a register can have it; unknown if nothing frees one yet.
    Tick next_want() {
        while (!wants_.empty() && pool_[wants_.front().fill].want != wants_.front().order)
            drop_want(); // another reference wanted it earlier
        if (wants_.empty())
            return unknown;
        return std::max(wants_.front().time, full() ? next_arrival_ : freed_);
    }
    uint32_t take_want() {
        const uint32_t index = wants_.front().fill;
        drop_want();
        pool_[index].want = 0;
        return index;
    }
    bool wanting() const { return !wants_.empty(); }

    void issue(uint32_t index) {
        pool_[index].state = Fill::issued;
        pool_[index].want = 0;
        issued_.push_back(index);
    }
    void arrives(uint32_t index, Tick at) {
        pool_[index].arrival = at;
        next_arrival_ = std::min(next_arrival_, at);
    }
    Tick next_arrival() const { return next_arrival_; }

    // Takes out what has arrived by `time`; returns how many stores had waited for it.
    uint32_t settle(Tick time) {
        uint32_t stores = 0;
        next_arrival_ = unknown;
        const bool was_full = full();
        for (size_t i = 0; i < issued_.size();) {
            Fill &fill = pool_[issued_[i]];
            if (fill.arrival > time) {
                next_arrival_ = std::min(next_arrival_, fill.arrival);
                i++;
                continue;
            }
            stores += fill.stores;
            fill.stores = 0;
            fill.state = Fill::arrived;
            unlink(issued_[i]);
            if (fill.holders == 0)
                free_.push_back(issued_[i]);
            issued_[i] = issued_.back();
            issued_.pop_back();
        }
        if (was_full && !full())
            freed_ = time;
        return stores;
    }
    void let_go(uint32_t index) {
        if (--pool_[index].holders == 0 && pool_[index].state == Fill::arrived)
            free_.push_back(index);
    }

  private:
    static constexpr unsigned hash_bits = 8;
    static unsigned hash(uint64_t line) {
        return unsigned(line * 0x9e3779b97f4a7c15 >> (64 - hash_bits));
    }
    void drop_want() {
        std::pop_heap(wants_.begin(), wants_.end(), std::greater<>());
        wants_.pop_back();
    }
    void unlink(uint32_t index) {
        uint32_t *at = &heads_[hash(pool_[index].line)];
        while (*at != index)
            at = &pool_[*at].next;
        *at = pool_[index].next;
    }

    const uint32_t outstanding_;
    std::vector<Fill> pool_;
    std::vector<uint32_t> free_, issued_;
    std::vector<Want> wants_;
    std::array<uint32_t, 1u << hash_bits> heads_;
    Tick next_arrival_ = unknown; // the earliest that is known
    Tick freed_ = 0;              // when they were full for the last time
    uint64_t order_ = 0;
};

} // namespace thermocline
