// See site_stats.h.
#include "site_stats.h"
#include "own_memory.h"
#include "site_heap_thread.h"

namespace {

constexpr unsigned chunk_shift = 10;
constexpr unsigned chunk_sites = 1u << chunk_shift;

std::atomic<SiteTotals *> chunks[site_limit >> chunk_shift];
std::atomic<uint32_t> site_end{1};
uint64_t start_ticks;
uint64_t counting_since; // 0, or the fork
timespec start_clock;

void raise(std::atomic<int64_t> &peak, int64_t value) {
    int64_t seen = peak.load(std::memory_order_relaxed);
    while (value > seen && !peak.compare_exchange_weak(seen, value, std::memory_order_relaxed))
        ;
}

SiteTotals *existing_totals(uint32_t site) {
    SiteTotals *chunk = chunks[site >> chunk_shift].load(std::memory_order_acquire);
    return chunk ? &chunk[site % chunk_sites] : nullptr;
}

double elapsed_seconds(const timespec &from) {
    timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return double(now.tv_sec - from.tv_sec) + double(now.tv_nsec - from.tv_nsec) * 1e-9;
}

} // namespace

void SiteCounters::flush() {
    int64_t before = totals->live_bytes.fetch_add(unflushed.get(), std::memory_order_relaxed);
    raise(totals->peak_live_bytes, before + unflushed_peak.get());
    unflushed.set(0);
    unflushed_peak.set(0);
}

std::atomic<uint64_t> block_clock;

uint64_t clock_now() {
    uint64_t now = stats_now();
    return now << 16 | link_live | stamp_of(now);
}

void block_clock_tick() { block_clock.store(clock_now(), std::memory_order_relaxed); }

uint64_t stats_now() { return (clock_ticks() - start_ticks) >> tick_shift; }

double stats_seconds(uint64_t time) {
    // Calibrated over the whole run so far: no need to wait at the start.
    uint64_t ticks = clock_ticks() - start_ticks;
    double seconds = elapsed_seconds(start_clock);
    return ticks ? double(time) * (1u << tick_shift) * seconds / double(ticks) : 0;
}

void stats_start() {
    clock_gettime(CLOCK_MONOTONIC, &start_clock);
    start_ticks = clock_ticks();
}

SiteTotals *stats_totals(uint32_t site) {
    std::atomic<SiteTotals *> &slot = chunks[site >> chunk_shift];
    SiteTotals *chunk = slot.load(std::memory_order_acquire);
    if (!chunk) {
        auto *fresh = static_cast<SiteTotals *>(own_memory_map(chunk_sites * sizeof(SiteTotals)));
        if (!fresh)
            return nullptr;
        if (slot.compare_exchange_strong(chunk, fresh, std::memory_order_acq_rel))
            chunk = fresh; // else another thread's; ours is lost, once
    }
    uint32_t end = site_end.load(std::memory_order_relaxed);
    while (end <= site && !site_end.compare_exchange_weak(end, site + 1))
        ;
    return &chunk[site % chunk_sites];
}

uint32_t stats_site_end() { return site_end.load(std::memory_order_acquire); }

SiteStats stats_read(uint32_t site, uint64_t now) {
    SiteStats stats{};
    stats.first_time_seconds = -1;
    SiteTotals *totals = existing_totals(site);
    if (!totals)
        return stats;
    int64_t live = totals->live_bytes.load(std::memory_order_relaxed);
    int64_t peak_since_flush = 0;
    uint64_t births = 0, deaths = 0, longest = 0;
    int64_t change = 0;
    for (ThreadHeap *heap = first_site_heap(); heap; heap = heap->next_heap) {
        SiteCache *cache = heap->find(site);
        if (!cache)
            continue;
        const SiteCounters &counters = cache->counters;
        stats.allocations += counters.allocations.get();
        stats.frees += counters.frees.get();
        stats.allocated_bytes += counters.allocated_bytes.get();
        stats.tagged_bytes += counters.tagged_bytes.get();
        births += counters.births.get();
        deaths += counters.deaths.get();
        if (counters.longest_life.get() > longest)
            longest = counters.longest_life.get();
        change += counters.unflushed.get();
        if (counters.unflushed_peak.get() > peak_since_flush)
            peak_since_flush = counters.unflushed_peak.get();
    }
    stats.live_bytes = live + change;
    stats.peak_live_bytes = totals->peak_live_bytes.load(std::memory_order_relaxed);
    for (int64_t candidate : {live + peak_since_flush, stats.live_bytes})
        if (candidate > stats.peak_live_bytes)
            stats.peak_live_bytes = candidate;
    int64_t inherited = totals->inherited_blocks.load(std::memory_order_relaxed);
    uint64_t blocks = stats.allocations + uint64_t(inherited);
    births += totals->inherited_births.load(std::memory_order_relaxed);
    if (blocks && stats.frees <= blocks) { // a thread may have counted between two of our reads
        int64_t lived = int64_t(deaths - births + (blocks - stats.frees) * now);
        // The clock that stands still between ticks may set a death before a birth.
        stats.mean_lifetime_seconds =
            lived > 0 ? stats_seconds(uint64_t(lived)) / double(blocks) : 0;
    }
    stats.longest_dead_seconds = stats_seconds(longest);
    if (uint64_t first = totals->first_time.load(std::memory_order_relaxed))
        stats.first_time_seconds =
            stats_seconds(first > counting_since ? first - counting_since : 0);
    return stats;
}

void stats_longest_live(uint64_t now, uint64_t *ages, uint32_t end) {
    auto note = [&](uint32_t site, uint16_t link) {
        uint64_t birth = time_of_stamp(link & stamp_max);
        if (birth < counting_since)
            birth = counting_since;
        if (site < end && now > birth && now - birth > ages[site])
            ages[site] = now - birth;
    };
    for (size_t unit = 0, top = units_top(); unit < top; ++unit) {
        uint32_t owner = unit_owner(unit);
        Span *span = &all_spans[unit];
        if (owner == 0 || span_of(unit, owner) != span)
            continue;
        SpanTables *tables = span->tables.load(std::memory_order_acquire);
        if (!tables) { // large
            uint16_t link = span->large_link.load(std::memory_order_relaxed);
            if (link & link_live)
                note(owner & site_heap_site_mask, link);
            size_t units = span->large_units.load(std::memory_order_relaxed);
            unit += units ? units - 1 : 0;
            continue;
        }
        // A span may end or change hands while this looks: the tables' own count bounds it.
        unsigned carved = span->carved.load(std::memory_order_relaxed);
        for (unsigned slot = 0; slot < carved && slot < tables->slots; ++slot) {
            uint16_t link = load_link(&tables->links()[slot]);
            if (link & link_live)
                note(tables->tagged ? __atomic_load_n(&tables->tags()[slot], __ATOMIC_RELAXED)
                                    : owner & site_heap_site_mask,
                     link);
        }
    }
}

uint64_t stats_counting_since() { return counting_since; }

unsigned stats_heap_count() {
    unsigned count = 0;
    for (ThreadHeap *heap = first_site_heap(); heap; heap = heap->next_heap)
        ++count;
    return count;
}

void stats_restart_in_child() {
    block_clock.store(0, std::memory_order_relaxed); // until there is a thread that sets it again
    uint64_t now = stats_now();
    counting_since = now;
    for (uint32_t site = 0; site < stats_site_end(); ++site) {
        SiteTotals *totals = existing_totals(site);
        if (!totals)
            continue;
        for (ThreadHeap *heap = first_site_heap(); heap; heap = heap->next_heap) {
            SiteCache *cache = heap->find(site);
            if (!cache)
                continue;
            SiteCounters &counters = cache->counters;
            int64_t live = int64_t(counters.allocations.get() - counters.frees.get());
            totals->inherited_blocks.fetch_add(live, std::memory_order_relaxed);
            counters.flush();
            for (Counter<uint64_t> *counter :
                 {&counters.allocations, &counters.frees, &counters.allocated_bytes,
                  &counters.births, &counters.deaths, &counters.longest_life})
                counter->set(0);
        }
        totals->inherited_births.store(uint64_t(totals->inherited_blocks.load()) * now);
        totals->peak_live_bytes.store(totals->live_bytes.load());
        if (totals->live_bytes.load() == 0)
            totals->first_time.store(0);
    }
}
