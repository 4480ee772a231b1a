// Data aside of mappings that mremap has moved: it follows as soon as no mapping is changing.
//
// The kernel says REMAP and then, but for MREMAP_DONTUNMAP, UNMAP of the old place.  Until all that
// threads are about to change has been read nothing moves (EAGAIN), so what is read meanwhile may
// move the new place again, give a part of it back, or fill the old one.  What is here is no longer
// known by its old address, therefore, but by where it is to go.
#pragma once
#include <cstdint>

namespace tc {

struct Follower {
    uint64_t shadow, place, bytes;
};

class Following {
  public:
    static constexpr unsigned most = 1 << 18;     // of memory that is used when it is needed
    static constexpr unsigned most_unmaps = 1024; // a thread waits for each

    // `list`: room for `most`.
    void prepare(Follower *list) { list_ = list; }
    bool empty() const { return count_ == 0; }
    Follower &last() { return list_[count_ - 1]; }
    void drop_last() { count_--; }

    // Parts in a row of one region's shadow become one.  False: too many.
    bool add(Follower follower, uint64_t region) {
        if (count_ > 0 && follower.shadow % region != 0 &&
            last().shadow + last().bytes == follower.shadow &&
            last().place + last().bytes == follower.place) {
            last().bytes += follower.bytes;
            return true;
        }
        return append(follower);
    }

    // What is bound for the old place goes on to the new one.
    bool moved(uint64_t from, uint64_t to, uint64_t bytes) {
        return each_within(from, from + bytes, [&](Follower &follower) {
            follower.place += to - from;
            return true;
        });
    }

    // The program has no more use for what was to come there: drop(shadow, bytes).
    template <typename Drop> bool removed(uint64_t from, uint64_t to, const Drop &drop) {
        return each_within(from, to, [&](Follower &follower) {
            drop(follower.shadow, follower.bytes);
            return false;
        });
    }

    template <typename Use> void each(const Use &use) const {
        for (unsigned i = 0; i < count_; i++)
            use(list_[i]);
    }

    // An mremap's UNMAP is about what has left already, and is not to be heeded.
    void expect_unmap(uint64_t from, uint64_t to) {
        if (unmaps_ < most_unmaps)
            expected_[unmaps_++] = {from, to};
    }
    bool takes_unmap(uint64_t from, uint64_t to) {
        for (unsigned i = 0; i < unmaps_; i++)
            if (expected_[i].from == from && expected_[i].to == to) {
                expected_[i] = expected_[--unmaps_];
                return true;
            }
        return false;
    }
    bool expects() const { return unmaps_ > 0; }
    void expect_none() { unmaps_ = 0; } // all that was changing has been read

  private:
    // Those parts that are bound for a place from `from` to `to`, cut off where they begin and end;
    // those for which use(follower) is false go.  False: too many.
    template <typename Use> bool each_within(uint64_t from, uint64_t to, const Use &use) {
        bool all = true;
        for (unsigned i = 0; i < count_; i++) {
            all &= cut(i, from) && cut(i, to);
            Follower &follower = list_[i];
            if (from <= follower.place && follower.place < to && !use(follower))
                list_[i--] = list_[--count_];
        }
        return all;
    }

    // Its part from `at` on becomes one of its own, at the end of the list.
    bool cut(unsigned i, uint64_t at) {
        Follower &follower = list_[i];
        if (at <= follower.place || at >= follower.place + follower.bytes)
            return true;
        const uint64_t first = at - follower.place;
        if (!append({follower.shadow + first, at, follower.bytes - first}))
            return false;
        follower.bytes = first;
        return true;
    }

    bool append(Follower follower) {
        if (count_ == most)
            return false;
        list_[count_++] = follower;
        return true;
    }

    struct Range {
        uint64_t from, to;
    };
    Follower *list_ = nullptr;
    unsigned count_ = 0, unmaps_ = 0;
    Range expected_[most_unmaps] = {};
};

} // namespace tc
