// Page faults on memory that is watched.
#include "engine.h"

namespace tc {

namespace {
// Zeros come in blocks, whatever the granularity, so that runs differ by what migrates.
constexpr Granularity first_touch_chunk = Granularity::block;
// Of a chunk that moves in so many pages stay aside at random, to be missed if they are used: the
// accessed bits that user space has not.  Ryoo 2017, section 6.3.4, suggests to sample them.
constexpr uint32_t pages_of_probe = 32, least_probes = 2;
constexpr unsigned home_at_once = 32; // pages, so that nobody waits for many
} // namespace

void Engine::fault(uint64_t address) {
    address &= ~(page_bytes - 1);
    if (address == gate)
        return; // a child's; the fork's end lets it go on
    const uint32_t page = uint32_t(address / page_bytes % region_pages);
    Region *const region = table.find(address);
    const bool managed = region && region->managed.has(page);
    if (managed && region->far.has(page)) {
        fault_far(*region, address);
    } else if (managed && region->aside.has(page)) {
        fault_soft(*region, address);
    } else if (managed && is_in_shadow(*region, page)) {
        find_strays(*region);
        fault_soft(*region, address);
    } else if (managed && !region->mapped.has(page)) {
        first_touch(*region, address);
    } else {
        // A mapping that grew, or is gone; or another thread's fault has brought the page; or it
        // was given back while we zeroed it.
        counts.other_faults++;
        zero_fill(address, page_bytes);
    }
    for (unsigned i = 0; i < home_at_once && visiting.count > visitors() && !forking.load(); i++)
        send_home();
    // Whatever came of it: a thread whose page is not there faults again.  Where it has come, it
    // was woken with that.
    if (!region || !region->mapped.has(page))
        userfault.wake(address, page_bytes);
}

void Engine::fault_far(Region &region, uint64_t address) {
    const uint64_t start = monotonic_ns();
    const uint32_t touched = uint32_t(address / page_bytes % region_pages);
    const bool visits = only_visits(region);
    const Granularity granularity = visits ? Granularity::page : policy->move_in(address);
    const uint32_t moved = come_near(region, touched, granularity);
    counts.faults++;
    counts.moves_in[unsigned(granularity)]++;
    counts.pages_in[unsigned(granularity)] += moved;
    if (visits)
        counts.visits++;
    else
        policy->moved({address, granularity, moved, true, monotonic_ns() - start});
    if (settings.prefetch && !visits) {
        ahead = strides.fault(address & ~(bytes_of(granularity) - 1));
        const uint64_t fits = limit / 8 / pages_of(granularity); // it must not push itself out
        ahead.chunks = ahead.chunks < fits ? ahead.chunks : unsigned(fits);
    }
}

// One chunk of a stream, before anyone asks for it.  Gives its pages.
uint32_t Engine::prefetch() {
    const uint64_t address = ahead.from;
    ahead.from += uint64_t(ahead.stride);
    ahead.chunks--;
    Region *const region = table.find(address);
    const uint32_t page = uint32_t(address / page_bytes % region_pages);
    if (!region || !region->managed.has(page) || !region->far.has(page) || only_visits(*region))
        return 0;
    const Granularity granularity = policy->current(address);
    const uint32_t moved = come_near(*region, page, granularity);
    counts.prefetches++;
    counts.prefetched_pages += moved;
    counts.moves_in[unsigned(granularity)]++;
    counts.pages_in[unsigned(granularity)] += moved;
    return moved;
}

// The pages of a chunk that are far.  Gives their number.
uint32_t Engine::come_near(Region &region, uint32_t touched, Granularity granularity) {
    const Span span = chunk(region.base + touched * page_bytes, granularity);
    uint32_t pages = 0;
    for (uint32_t page = span.first; page < span.end; page++)
        pages += region.far.has(page);
    make_room(pages);
    uint32_t probes = granularity == Granularity::page || !policy->asks_for_accesses() ? 0
                      : pages / pages_of_probe > least_probes ? pages / pages_of_probe
                                                              : least_probes;
    for (probes = pages > 8 ? probes : 0; probes > 0; probes--) {
        random ^= random << 13;
        random ^= random >> 7;
        random ^= random << 17;
        const uint32_t page = span.first + uint32_t(random % (span.end - span.first));
        if (page == touched || !region.far.has(page))
            continue;
        region.probe.put(page);
        region.probed.put(page);
    }
    uint32_t moved = 0;
    runs(
        span, [&](uint32_t page) { return region.far.has(page); },
        [&](uint32_t page, uint32_t end) {
            back_end->in(table.shadow(region, page), (end - page) * page_bytes, moved == 0);
            moved += end - page;
        });
    PageSet coming = region.far;
    runs(
        span, [&](uint32_t page) { return coming.has(page) && !region.probe.has(page); },
        [&](uint32_t page, uint32_t end) { bring(region, page, end); });
    for (uint32_t page = span.first; page < span.end; page++) {
        if (!coming.has(page))
            continue;
        if (region.probe.has(page)) {
            region.far.drop(page); // near, and aside
            far_pages--;
        }
        if (!region.far.has(page))
            stand(region, page, false);
    }
    return moved;
}

void Engine::fault_soft(Region &region, uint64_t address) {
    const uint32_t touched = uint32_t(address / page_bytes % region_pages);
    const bool waiting = region.limbo.has(touched);
    region.probe.drop(touched);
    const Span span = waiting ? chunk(address, policy->current(address))
                              : Span{touched, touched + 1}; // a probe: the others are in place
    const PageSet near_aside = region.aside;
    const auto comes = [&](uint32_t page) {
        return near_aside.has(page) && !region.far.has(page) && !region.probe.has(page);
    };
    PageSet coming{};
    runs(span, comes, [&](uint32_t page, uint32_t end) {
        for (uint32_t at = page; at < end; at++)
            coming.put(at);
    });
    runs(
        span, [&](uint32_t page) { return coming.has(page); },
        [&](uint32_t page, uint32_t end) { bring(region, page, end); });
    for (uint32_t page = span.first; page < span.end; page++)
        if (region.limbo.has(page) && (!region.aside.has(page) || region.probe.has(page))) {
            leave_queue(region, page);
            stand(region, page, false);
        }
    counts.soft_faults++;
}

void Engine::first_touch(Region &region, uint64_t address) {
    const Span span = chunk(address, first_touch_chunk);
    const auto fresh = [&](uint32_t page) {
        return region.managed.has(page) && !region.mapped.has(page) && !region.aside.has(page) &&
               !is_in_shadow(region, page);
    };
    make_room(span.end - span.first);
    runs(span, fresh, [&](uint32_t page, uint32_t end) {
        zero_fill(region.base + page * page_bytes, (end - page) * page_bytes);
        for (; page < end; page++) {
            region.mapped.put(page);
            stand(region, page, false);
        }
    });
    counts.first_touches++;
}

} // namespace tc
