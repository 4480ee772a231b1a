// See residency.h.
#include "residency.h"
#include "lock.h"
#include "own_memory.h"
#include "page_scan.h"
#include "site_heap_span.h"
#include "site_stats.h"

namespace {

constexpr uint64_t page_bytes = 4096, line_bytes = 64;

SiteResidency *sites;
NonHeapResidency outside;
std::atomic<uint64_t> process_peak;
std::atomic<bool> sampling; // not a lock: nobody waits for a sample

// What a release compares with before it looks closer: see at_release.
std::atomic<size_t> sampled_units;
std::atomic<uint64_t> last_end, last_cost; // of a sample, in stats_now's time
uint64_t previous_start;

uint64_t raise(uint64_t &peak, uint64_t value) { return value > peak ? peak = value : peak; }

void raise(std::atomic<uint64_t> &peak, uint64_t value) {
    uint64_t seen = peak.load(std::memory_order_relaxed);
    while (value > seen && !peak.compare_exchange_weak(seen, value, std::memory_order_relaxed))
        ;
}

struct Ownerless { // pages that the owner table alone cannot charge
    uint64_t tagged, unknown;
};

void add_run(void *context, uintptr_t from, uintptr_t to) {
    auto *ownerless = static_cast<Ownerless *>(context);
    from -= site_heap_range.base;
    to -= site_heap_range.base;
    while (from < to) {
        size_t unit = from >> site_heap_unit_shift;
        uintptr_t end = (unit + 1) << site_heap_unit_shift;
        end = end < to ? end : to;
        uint32_t owner = unit_owner(unit);
        if (owner & site_heap_tagged) {
            ownerless->tagged += end - from;
        } else if (uint32_t site = owner & site_heap_site_mask) {
            std::atomic<uint64_t> &now = sites[site].now;
            now.store(now.load(std::memory_order_relaxed) + (end - from),
                      std::memory_order_relaxed);
        } else {
            ownerless->unknown += end - from;
        }
        from = end;
    }
}

// Tagged pages hold many sites' blocks: each is charged its share of the live tagged slots.
// Returns what no live block answers for.
uint64_t share_tagged(uint64_t tagged, uint32_t end) {
    if (!tagged)
        return 0;
    uint64_t slots = 0, charged = 0;
    uint64_t now = stats_now();
    auto live_slots = [now](uint32_t site) {
        int64_t bytes = stats_read(site, now).tagged_bytes;
        return bytes > 0 ? uint64_t(bytes) : 0;
    };
    for (uint32_t site = 0; site < end; ++site)
        slots += live_slots(site);
    for (uint32_t site = 1; slots && site < end; ++site) {
        uint64_t live = live_slots(site);
        uint64_t share = uint64_t(double(tagged) * double(live) / double(slots));
        // Where little is left of what was there, a slot (a line at least) holds one page.
        if (share > live * (page_bytes / line_bytes))
            share = live * (page_bytes / line_bytes);
        sites[site].now.fetch_add(share, std::memory_order_relaxed);
        charged += share;
    }
    return tagged > charged ? tagged - charged : 0;
}

void touched(uint64_t &first, uint64_t not_before) {
    if (first == 0)
        first = not_before ? not_before : 1;
}

void note_outside(uint64_t lower_bound) {
    uint64_t NonHeapBytes::*const kinds[] = {&NonHeapBytes::stack, &NonHeapBytes::globals,
                                             &NonHeapBytes::other};
    for (unsigned kind = 0; kind < 3; ++kind) {
        raise(outside.peak.*kinds[kind], outside.now.*kinds[kind]);
        if (outside.now.*kinds[kind])
            touched(outside.first_touch[kind], lower_bound);
    }
}

// A peak ends with a release, which no sampler would be in time for.  So the thread that is about
// to release looks first, if the heap has grown since the last sample and samples are cheap enough;
// and a large block's own pages are looked at if they could be its site's peak.  They may have been
// touched after the last sample, which counts as growth too.
void at_release(uint32_t site, size_t first, size_t units) {
    size_t in_use = units_in_use(), seen = sampled_units.load(std::memory_order_relaxed);
    bool grown = in_use > seen + seen / 16;
    if (site && units * unit_bytes > sites[site].peak.load(std::memory_order_relaxed)) {
        uintptr_t from = reinterpret_cast<uintptr_t>(unit_address(first));
        uint64_t resident = resident_bytes(-1, from, from + units * unit_bytes);
        raise(sites[site].peak, resident);
        grown |= resident > sites[site].now.load(std::memory_order_relaxed) +
                                process_peak.load(std::memory_order_relaxed) / 16;
    }
    if (grown && stats_now() - last_end.load(std::memory_order_relaxed) >
                     100 * last_cost.load(std::memory_order_relaxed))
        residency_sample(-1);
}

} // namespace

bool residency_start() {
    sites = static_cast<SiteResidency *>(own_memory_map(site_limit * sizeof(SiteResidency)));
    if (!sites)
        return false;
    before_release = at_release;
    return true;
}

void residency_sample(int pagemap) {
    if (sampling.exchange(true, std::memory_order_acquire))
        return;
    uint64_t start = stats_now();
    uint32_t end = stats_site_end();
    for (uint32_t site = 1; site < end; ++site)
        sites[site].now.store(0, std::memory_order_relaxed);
    Ownerless unsettled{};
    size_t in_use = units_in_use();
    scan_resident(pagemap, site_heap_range.base, site_heap_range.base + units_top() * unit_bytes,
                  add_run, &unsettled);
    uint64_t ownerless = unsettled.unknown + share_tagged(unsettled.tagged, end);
    if (pagemap >= 0)
        outside.now = nonheap_resident(pagemap);
    NonHeapBytes measured = outside.now;
    outside.now.other += ownerless;
    note_outside(previous_start);
    uint64_t total = outside.now.stack + outside.now.globals + outside.now.other;
    for (uint32_t site = 1; site < end; ++site) {
        SiteResidency &s = sites[site];
        uint64_t now = s.now.load(std::memory_order_relaxed);
        total += now;
        raise(s.peak, now);
        if (now && s.first_touch == 0) {
            // Not before its first allocation, nor before the last sample, which did not see it.
            uint64_t allocated = stats_totals(site)->first_time.load(std::memory_order_relaxed);
            touched(s.first_touch, allocated > previous_start ? allocated : previous_start);
        }
    }
    if (total > process_peak.load(std::memory_order_relaxed)) {
        process_peak.store(total, std::memory_order_relaxed);
        for (uint32_t site = 1; site < end; ++site)
            sites[site].at_peak = sites[site].now.load(std::memory_order_relaxed);
        outside.at_peak = outside.now;
    }
    outside.now = measured;
    sampled_units.store(in_use, std::memory_order_relaxed);
    previous_start = start;
    uint64_t finish = stats_now();
    last_end.store(finish, std::memory_order_relaxed);
    last_cost.store(finish - start, std::memory_order_relaxed);
    sampling.store(false, std::memory_order_release);
}

const SiteResidency &residency_of(uint32_t site) { return sites[site]; }
const NonHeapResidency &residency_outside() { return outside; }
uint64_t residency_peak() { return process_peak.load(std::memory_order_relaxed); }

void residency_restart_in_child() {
    sampling.store(false);
    process_peak.store(0);
    outside = {};
    sampled_units.store(0);
    for (uint32_t site = 1; site < stats_site_end(); ++site) {
        sites[site].peak.store(0);
        sites[site].at_peak = sites[site].first_touch = 0;
    }
}
