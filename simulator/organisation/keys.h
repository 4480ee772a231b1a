// Keys that steps are waiting for, or were a moment ago (steps.h): each has its steps in order.
#pragma once
#include "simulator/time.h"
#include <array>
#include <cstddef>
#include <vector>

namespace thermocline {

class Keys {
  public:
    static constexpr uint32_t nil = UINT32_MAX;
    struct Key {
        uint64_t name = 0;
        uint32_t head = nil, tail = nil; // steps
        Ps free_at = 0;                  // its last step is done
        uint32_t next = nil;             // of the same hash
        bool resting = false;            // is in resting_
    };

    Keys() { heads_.fill(nil); }
    Key &operator[](uint32_t index) { return keys_[index]; }

    uint32_t find(uint64_t name) const {
        uint32_t at = heads_[hash(name)];
        while (at != nil && keys_[at].name != name)
            at = keys_[at].next;
        return at;
    }
    uint32_t make(uint64_t name) {
        if (free_.empty()) {
            free_.push_back(uint32_t(keys_.size()));
            keys_.emplace_back();
        }
        const uint32_t index = free_.back();
        free_.pop_back();
        keys_[index] = Key{};
        keys_[index].name = name;
        keys_[index].next = heads_[hash(name)];
        heads_[hash(name)] = index;
        return index;
    }
    // It has no step any more.
    void rest(uint32_t index) {
        if (keys_[index].resting)
            return;
        keys_[index].resting = true;
        resting_.push_back(index);
    }
    void forget(Ps now) {
        for (; first_ < resting_.size(); first_++) {
            Key &key = keys_[resting_[first_]];
            if (key.free_at + ahead > now)
                break;
            key.resting = false;
            if (key.head == nil)
                drop(resting_[first_]);
        }
        if (first_ >= 4096) {
            resting_.erase(resting_.begin(), resting_.begin() + ptrdiff_t(first_));
            first_ = 0;
        }
    }

  private:
    // Memories report what completes before its time, by some ns: what comes until then must find
    // the key.
    static constexpr Ps ahead = 1'000'000;
    static constexpr unsigned hash_bits = 12;
    static size_t hash(uint64_t name) {
        return size_t(name * 0x9e3779b97f4a7c15 >> (64 - hash_bits));
    }
    void drop(uint32_t index) {
        uint32_t *at = &heads_[hash(keys_[index].name)];
        while (*at != index)
            at = &keys_[*at].next;
        *at = keys_[index].next;
        free_.push_back(index);
    }

    std::vector<Key> keys_;
    std::vector<uint32_t> free_, resting_;
    size_t first_ = 0; // in resting_
    std::array<uint32_t, size_t(1) << hash_bits> heads_;
};

} // namespace thermocline
