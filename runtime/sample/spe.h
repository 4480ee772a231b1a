// Arm's Statistical Profiling Extension: the packets of its AUX area (Arm Architecture Reference
// Manual, chapter "Statistical Profiling Extension sample record specification").
#pragma once
#include "data_source.h"
#include "ring.h"

namespace tc::sample {

struct SpeRecord {
    enum Kind : uint8_t { none, whole, damaged } kind; // none: up to the end there is no whole one
    uint64_t bytes;                                    // how far to go on
    uint64_t address;                                  // virtual; 0: it had none
    Access access;
    uint64_t latency; // cycles, in all; 0: unknown
};

// The record at `from`.  `memory_source`: the processor's code for "memory" in its data-source
// packets, or negative; it is asked only where the events don't tell of the last-level cache.
SpeRecord read_spe(const Ring &, uint64_t from, uint64_t to, int memory_source);

} // namespace tc::sample
