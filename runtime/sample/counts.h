// What samples say of each site.  One thread at a time writes.
#pragma once
#include "data_source.h"
#include "events.h"
#include "records.h"
#include "trace/traffic.h"

namespace tc {
class JsonFile;
}

namespace tc::sample {

// Of a site, or of memory that is not heap.
struct Counts {
    uint64_t samples;   // of what the profile's figure counts: see Counts in events.h
    uint64_t events;    // that these stand for: the sum of their periods
    double squares;     // of the periods
    uint64_t latencies; // the sum over those that had one, in cycles
    uint64_t with_latency;
    Traffic traffic;
};

// Samples that no owner got.
struct Strays {
    uint64_t without_address, of_others; // of other processes, or of the runtime's own threads
};

bool counts_start(uint64_t line_bytes); // false when there is no memory for its tables

// `own_thread`: its samples are the runtime's, not the program's.
void note_sample(const Event &, const Sample &, uint32_t own_thread);
// The same with what a data source would say.
void note_access(const Event &, uintptr_t address, uint64_t period, Access, uint64_t latency);

void counts_snapshot(Traffic *sites, uint32_t count, Traffic *outside);
const Counts &counts_of_site(uint32_t site);
const Counts &counts_outside(NonHeap);
const Strays &counts_strays();
void put_counts(JsonFile &, const Counts &);

} // namespace tc::sample
