// See counts.h.
#include "counts.h"
#include "outside.h"
#include "own_memory.h"
#include "site_heap_range.h"
#include "site_heap_span.h"
#include "site_stats.h"
#include "text.h"
#include <unistd.h>

// Absent where parts are tested by themselves.
extern "C" [[gnu::weak]] bool alloc_owns(const void *);

namespace tc::sample {
namespace {

Counts *sites;
Counts outside[nonheap_kinds];
Strays strays;
uint64_t line;
// Of each unit of the profiled heap, the site that had it before it went back to the pool: its
// samples may not have been read yet.
uint32_t *last_owners;

// By the thread that frees, before the owner changes.
void note_release(const void *block, uint64_t bytes) {
    const uintptr_t offset = reinterpret_cast<uintptr_t>(block) - site_heap_range.base;
    for (size_t unit = offset / unit_bytes; unit < (offset + bytes) / unit_bytes; ++unit)
        if (const uint32_t owner = unit_owner(unit); !(owner & site_heap_tagged))
            __atomic_store_n(&last_owners[unit], owner & site_heap_site_mask, __ATOMIC_RELAXED);
}

uint32_t site_of(uintptr_t address) {
    if (const uint32_t site = tc_owner_of(address))
        return site;
    const uintptr_t offset = address - site_heap_range.base;
    return offset < site_heap_range.bytes
               ? __atomic_load_n(&last_owners[offset / unit_bytes], __ATOMIC_RELAXED)
               : 0;
}

// The runtime's tables, and what its allocator holds: in a profiled run no block of the program's.
bool is_own(uintptr_t address) {
    const OwnMemory own = own_memory();
    return (address >= own.from && address < own.to) ||
           (alloc_owns && alloc_owns(reinterpret_cast<void *>(address)));
}

} // namespace

bool counts_start(uint64_t line_bytes) {
    line = line_bytes;
    sites = static_cast<Counts *>(own_memory_map(site_limit * sizeof(Counts)));
    last_owners = static_cast<uint32_t *>(
        own_memory_map(site_heap_range.bytes / unit_bytes * sizeof *last_owners));
    if (!sites || !last_owners || !outside_start())
        return false;
    owner_changed = note_release;
    return true;
}

void note_access(const Event &event, uintptr_t address, uint64_t period, Access access,
                 uint64_t latency) {
    if (address == 0) {
        strays.without_address++;
        return;
    }
    if (is_own(address)) {
        strays.of_others++;
        return;
    }
    const uint32_t site = site_of(address);
    // Small blocks of many sites share units: one that was freed has no owner left.
    Counts &counts = site && site < site_limit ? sites[site]
                     : site_heap_contains(reinterpret_cast<void *>(address))
                         ? outside[nonheap_other]
                         : outside[kind_outside(address)];
    const bool by_memory = event.counts == Event::misses || (event.counts == Event::references &&
                                                             access.served == Access::by_memory);
    if (event.counts == Event::references) {
        counts.traffic.loads += access.load ? period : 0;
        counts.traffic.stores += access.store ? period : 0;
    }
    if (by_memory)
        (access.store && !access.load ? counts.traffic.write_bytes : counts.traffic.read_bytes) +=
            period * line;
    if (by_memory || event.counts == Event::nothing) {
        counts.samples++;
        counts.events += period;
        counts.squares += double(period) * double(period);
    }
    if (latency) {
        counts.latencies += latency;
        counts.with_latency++;
    }
}

void note_sample(const Event &event, const Sample &sample, uint32_t own_thread) {
    if (sample.pid != uint32_t(getpid()) || (own_thread && sample.tid == own_thread)) {
        strays.of_others++;
        return;
    }
    note_access(event, sample.address, sample.period, read_data_source(sample.data_source),
                event.weight ? sample.weight : 0);
}

void counts_snapshot(Traffic *to, uint32_t count, Traffic *to_outside) {
    for (uint32_t site = 1; site < count; site++)
        to[site] = sites[site].traffic;
    for (unsigned kind = 0; kind < nonheap_kinds; kind++)
        to_outside[kind] = outside[kind].traffic;
}

const Counts &counts_of_site(uint32_t site) { return sites[site]; }
const Counts &counts_outside(NonHeap kind) { return outside[kind]; }
const Strays &counts_strays() { return strays; }

void put_counts(JsonFile &json, const Counts &counts) {
    json.number("samples", counts.samples);
    json.number("events", counts.events);
    // As many samples of one period would be as uncertain.
    const double events = double(counts.events);
    json.number("effective_samples",
                counts.squares > 0 ? uint64_t(events * events / counts.squares + 0.5) : 0);
    if (counts.with_latency)
        json.number("mean_latency_cycles", counts.latencies / counts.with_latency);
}

} // namespace tc::sample
