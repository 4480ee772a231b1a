// The records that perf_event_open's ring holds (linux/perf_event.h, PERF_RECORD_*).
#pragma once
#include "ring.h"

namespace tc::sample {

struct Sample {
    uint64_t id; // of the event
    uint32_t pid, tid;
    uint64_t address;
    uint64_t period; // events that this sample stands for
    uint64_t weight; // mostly a latency, in cycles
    uint64_t data_source;
    bool in_kernel; // the instruction was the kernel's
};

struct Record {
    enum Kind : uint8_t {
        none,      // no whole record is there
        sample,    // `sampled`
        lost,      // `count` records found no room
        throttled, // the kernel stops the event until its next tick
        area,      // the AUX area has `count` more bytes, from `offset` on; `flags`
        other,     // of no interest, or of a newer kernel
        damaged,   // the rest up to the head cannot be read
    } kind;
    uint64_t bytes; // how far to go on
    Sample sampled;
    uint64_t offset, count, flags;
};

// Fields of PERF_RECORD_SAMPLE that can be read; others must not be asked for.
constexpr uint64_t known_fields = 1u << 16 /* IDENTIFIER */ | 1u << 1 /* TID */ |
                                  1u << 3 /* ADDR */ | 1u << 8 /* PERIOD */ |
                                  1u << 14 /* WEIGHT */ | 1u << 15 /* DATA_SRC */;

// The record at `tail`.  `fields` is the events' sample_type.
Record read_record(const Ring &, uint64_t tail, uint64_t head, uint64_t fields);

} // namespace tc::sample
