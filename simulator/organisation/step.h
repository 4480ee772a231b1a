// What a step does (steps.h).
#pragma once
#include "simulator/organisation/demand.h"
#include <array>

namespace thermocline {

struct Lookup {
    static constexpr uint8_t all = 255, none = 254;
    uint32_t node = 0;
    uint64_t address = 0; // of the first entry
    uint32_t bytes = 0;   // of an entry
    uint8_t entries = 0;
    uint8_t first = all;   // read this one first
    bool rest = false;     // and then the others
    uint8_t update = none; // written once known
};

struct Step {
    static constexpr uint64_t no_slot = UINT64_MAX;
    Demand demand; // token: nobody waits
    uint64_t key = 0;
    std::array<uint64_t, 3> slot{}, line{};
    uint32_t count = 1;
    bool serial = false;       // slot[0] is read when the others have been
    bool early = false;        // reads don't wait for the look-up, which has to confirm them
    uint64_t wasted = no_slot; // guessed, and read for nothing
    Lookup lookup;
};

struct StepStatistics {
    uint64_t lookups = 0, lookup_bytes = 0, updates = 0, update_bytes = 0;
    uint64_t swaps = 0, moved_lines = 0; // lines that went to another slot
    uint64_t waited = 0;                 // steps that found their key busy
    uint64_t wasted = 0;                 // reads of a wrong guess
};

} // namespace thermocline
