// The events that `option event.N` of the configuration names (docs/method-sample.md).
#pragma once
#include "config.h"
#include <cstdint>

struct perf_event_attr;

namespace tc::sample {

constexpr unsigned max_events = 4;

struct Event {
    // What one occurrence is.
    enum Counts : uint8_t {
        nothing,    // neither a load nor a store: page faults, breakpoints
        misses,     // a load that memory served
        references, // a load or a store; its data source says which, and who served it
    } counts;
    const char *name;
    uint32_t type;
    uint64_t config, config1, config2;
    uint64_t period, frequency; // one of them; a second, and processor
    uint8_t precise;
    bool user;         // leaves the kernel out; some processors cannot
    bool weight;       // samples carry a latency in cycles
    bool area;         // samples come in an AUX area, as Arm's do
    int memory_source; // see spe.h
};

// KEY=NUMBER,...,name=NAME: the name is the rest.  False if something is wrong with it.
bool parse_event(const char *text, Event &);

// event.1, event.2, ... of a configuration; null, or what is wrong.
const char *read_events(const Config &, Event *, unsigned &count);

void fill_attributes(const Event &, uint64_t fields, perf_event_attr &);

} // namespace tc::sample
