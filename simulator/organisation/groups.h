// Congruence groups: one near place and all far places that are equal to it modulo the number of
// near places.  Within a group any member may be in any place, so that two change places by one
// swap.  Members and places are numbered alike: 0 is the near one, j the j-th far one.
#pragma once
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <new>

namespace thermocline {

class Groups {
  public:
    // `near` places, each with so many members; as many tables as sockets.
    Groups(uint64_t near, uint64_t members, uint32_t sockets)
        : near_(near), members_(members),
          // calloc: the kernel gives pages as groups are used.  Zero: everybody is at home.
          place_(static_cast<uint8_t *>(calloc(near * members * sockets, 1))),
          resident_(static_cast<uint8_t *>(calloc(near * sockets, 1))) {
        if (!place_ || !resident_)
            throw std::bad_alloc();
    }

    uint64_t group(uint64_t number) const { return number % near_; }
    uint64_t member(uint64_t number) const { return number / near_; }
    uint64_t number(uint64_t group, uint64_t member) const { return member * near_ + group; }

    // Where a member is, as the number of that place.
    uint64_t place(uint32_t socket, uint64_t group, uint64_t member) const {
        return member ^ place_.get()[at(socket, group, member)];
    }
    // Who is in the near place.
    uint64_t resident(uint32_t socket, uint64_t group) const {
        return resident_.get()[socket * near_ + group];
    }
    // A member comes near; who was there goes where it was.
    void swap(uint32_t socket, uint64_t group, uint64_t member) {
        const uint64_t from = place(socket, group, member), leaves = resident(socket, group);
        place_.get()[at(socket, group, member)] = uint8_t(member);
        place_.get()[at(socket, group, leaves)] = uint8_t(leaves ^ from);
        resident_.get()[socket * near_ + group] = uint8_t(member);
    }

  private:
    uint64_t at(uint32_t socket, uint64_t group, uint64_t member) const {
        return (socket * near_ + group) * members_ + member;
    }
    struct Free {
        void operator()(uint8_t *bytes) const { free(bytes); }
    };
    const uint64_t near_, members_;
    std::unique_ptr<uint8_t, Free> place_, resident_;
};

} // namespace thermocline
