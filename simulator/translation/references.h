// What a translation refers to in memory: page tables, and buffers that lie in memory.
#pragma once
#include "simulator/time.h"
#include <cstdint>

namespace thermocline {

// Memory that translation keeps to itself: lines have numbers of their own beside a program's.
// Programs' addresses have 47 bits; 16 TiB in the midst of them are taken for this, where no
// system puts a program's memory, and a program that refers to it is refused.
struct Kept {
    static constexpr uint64_t first = uint64_t(1) << 46, buffer = first + (uint64_t(1) << 43);
    static constexpr uint64_t end = first + (uint64_t(1) << 44); // addresses
    static constexpr bool holds(uint64_t address) { return address - first < end - first; }
};

enum class Via : uint8_t {
    caches, // a load through the data caches
    around, // a load from memory, whatever the caches hold; the line comes into them nonetheless
    memory, // a load from memory that no cache knows of
    write,  // a store to memory that nobody waits for; copies in caches change with it
};

// Takes a translation's references, one after the other; each waits for the one before.
class References {
  public:
    virtual ~References() = default;
    // `after`: what passes between the one before and this.  Returns the cache level that had the
    // line, counted from 0, or the number of levels: memory.
    virtual uint32_t refer(uint64_t address, Via via, Ps after) = 0;
    virtual uint32_t memory_level() const = 0;
    virtual void pass(Ps time) = 0; // time that no reference takes
};

} // namespace thermocline
