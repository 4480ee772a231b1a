// The rings that are open: what rings.cpp fills and drain.cpp reads.
#pragma once
#include "events.h"
#include "ring.h"
#include "rings.h"

struct perf_event_mmap_page;

namespace tc::sample {

struct ProcessorRing {
    int processor;
    perf_event_mmap_page *page;
    Ring data, area;
    uint64_t area_read;   // up to here, in AUX positions
    const Event *in_area; // whose samples they are
};

struct OpenEvent {
    uint64_t id;
    const Event *event;
};
constexpr unsigned id_slots = 1 << 14;

struct RingTable {
    ProcessorRing *rings;
    unsigned count;
    OpenEvent *ids;  // open addressing, id_slots
    uint64_t fields; // the events' sample_type
    Totals totals;

    OpenEvent *slot_of(uint64_t id) {
        uint64_t at = id & (id_slots - 1);
        while (ids[at].event && ids[at].id != id)
            at = (at + 1) & (id_slots - 1);
        return &ids[at];
    }
};
extern RingTable ring_table;

} // namespace tc::sample
