// How much moves at once: the policies of page migration, shared by the engine, which moves real
// pages, and by whatever models it.  A policy is one file with a class like this and one line in
// registry.cpp.
//
// Policies run inside other people's programs: no exceptions, no malloc, no C++ library.
#pragma once
#include <cstddef>
#include <cstdint>

namespace thermocline::migration {

enum class Granularity : uint8_t { page, block, region }; // 4 KiB, 64 KiB, 2 MiB
constexpr unsigned granularities = 3;

constexpr unsigned shift_of(Granularity granularity) {
    return granularity == Granularity::page ? 12 : granularity == Granularity::block ? 16 : 21;
}
constexpr uint64_t bytes_of(Granularity granularity) {
    return uint64_t(1) << shift_of(granularity);
}
constexpr uint32_t pages_of(Granularity granularity) {
    return uint32_t(bytes_of(granularity) >> 12);
}

// What is known about the pages that are near.
class Near {
  public:
    // Of the 4 KiB pages in the aligned chunk around `address` that are near: the share that was
    // not accessed since they moved in, 0 to 1 (FRAC_NOT_ACCESSED of Ryoo 2017, Algorithm 2).
    virtual double not_accessed(uint64_t address, Granularity) const = 0;
};

// One migration: one chunk, and so one TLB shootdown.
struct Move {
    uint64_t address; // that was touched, or the victim
    Granularity granularity;
    uint32_t pages; // of 4 KiB that it moved
    bool in;
    uint64_t ns; // that it took, with what the memories charged
};

class Policy {
  public:
    // A far page was touched: how much moves near with it.
    virtual Granularity move_in(uint64_t address) = 0;
    // A victim was chosen: how much moves out with it.  `Near` is the same one for ever.
    virtual Granularity move_out(uint64_t victim, const Near &) = 0;
    // What move_out would say, without a victim being counted.
    virtual Granularity current(uint64_t address) const = 0;
    virtual void moved(const Move &) {}
    // Whether it asks what was accessed, which costs faults to know.
    virtual bool asks_for_accesses() const { return true; }
    // Called often; `now` in nanoseconds from any start.
    virtual void tick(uint64_t) {}
};

// In storage of its own, once a process; null: no such policy.
Policy *make_policy(const char *name);
// The names, and a null pointer.
extern const char *const policy_names[];

} // namespace thermocline::migration
