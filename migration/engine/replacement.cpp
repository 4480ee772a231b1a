// Which pages leave: first in, first out, with a second chance (segmented FIFO; Turner and Levy
// 1981).  The oldest are put aside, still near, and stand in `limbo`; one that is touched there
// comes back for a soft fault and is young again, the others go far.  User space has no accessed
// bits, and this needs none.
#include "engine.h"

namespace tc {

bool Engine::is_pinned(uint64_t address) const {
    const PageSet *const pages = pinned.find(address / region_bytes);
    return pages && pages->has(uint32_t(address / page_bytes % region_pages));
}

// The oldest chunk goes aside.  False: nothing could.
bool Engine::deactivate() {
    for (unsigned tries = 0; tries < 64 && active.count != 0; tries++) {
        const uint32_t victim = active.first;
        Region &region = table.region_of(victim);
        const uint64_t address = region.base + victim % region_pages * page_bytes;
        const Span span = chunk(address, policy->current(address));
        bool moved = false, changing = false;
        const auto stay = [&](uint32_t page) { // young again: another is tried
            leave_queue(region, page);
            stand(region, page, false);
        };
        runs(
            span, [&](uint32_t page) { return region.mapped.has(page); },
            [&](uint32_t page, uint32_t end) {
                for (uint32_t first = page; first < end && !changing;) {
                    const auto stays = [&](uint32_t at) {
                        return region.held.has(at) || is_pinned(region.base + at * page_bytes);
                    };
                    if (stays(first)) {
                        stay(first++);
                        continue;
                    }
                    uint32_t last = first + 1;
                    while (last < end && !stays(last))
                        last++;
                    changing = put_aside(region, first, last) == Moved::changing;
                    for (; first < last; first++)
                        if (region.mapped.has(first) && !changing)
                            stay(first);
                }
            });
        for (uint32_t page = span.first; page < span.end; page++)
            if (region.aside.has(page) && !region.far.has(page) && !region.limbo.has(page)) {
                leave_queue(region, page);
                stand(region, page, true);
                moved = true;
            }
        counts.evictions += moved;
        if (moved || changing)
            return moved;
    }
    return false;
}

// The chunk that has been aside for longest becomes far.
bool Engine::demote() {
    if (limbo.count == 0)
        return false;
    const uint64_t start = monotonic_ns();
    const uint32_t victim = limbo.first;
    Region &region = table.region_of(victim);
    const uint64_t address = region.base + victim % region_pages * page_bytes;
    const Granularity granularity = policy->move_out(address, *this);
    const Span span = chunk(address, granularity);
    uint32_t moved = 0;
    runs(
        span, [&](uint32_t page) { return region.limbo.has(page); },
        [&](uint32_t page, uint32_t end) {
            go_far(region, page, end, moved == 0);
            moved += end - page;
        });
    for (uint32_t page = span.first; page < span.end; page++)
        if (!region.probe.has(page))
            region.probed.drop(page);
    counts.moves_out[unsigned(granularity)]++;
    counts.pages_out[unsigned(granularity)] += moved;
    policy->moved({address, granularity, moved, false, monotonic_ns() - start});
    return true;
}

// Pages that are aside, and near so far; `first` of their chunk.
void Engine::go_far(Region &region, uint32_t page, uint32_t end, bool first) {
    back_end->out(table.shadow(region, page), (end - page) * page_bytes, first);
    for (; page < end; page++) {
        leave_queue(region, page);
        region.far.put(page);
        far_pages++;
        region.probe.drop(page);
        if (settings.check)
            table.checksum(table.number(region, page)) = checksum_of(table.shadow(region, page));
    }
}

// The page that has visited for longest is far again.
void Engine::send_home() {
    const uint32_t victim = visiting.first, page = victim % region_pages;
    Region &region = table.region_of(victim);
    if (region.mapped.has(page))
        put_aside(region, page, page + 1);
    if (region.aside.has(page)) {
        go_far(region, page, page + 1, true);
        counts.moves_out[0]++;
        counts.pages_out[0]++;
    } else if (region.mapped.has(page)) { // it can't move: another is tried
        leave_queue(region, page);
        stand(region, page, false);
    }
}

// Until so many more pages fit.  Limbo is filled again only when it gave something up, so that
// a program whose data fits is left in peace.
bool Engine::make_room(uint64_t pages) {
    if (forking.load() > 0) // nothing may leave
        return near_pages() + pages <= limit;
    const uint64_t aside = limit / 8;
    while (near_pages() + pages > limit) {
        while (limbo.count < aside && deactivate()) {
        }
        if (!demote()) {
            counts.overshoot += near_pages() + pages - limit;
            return false;
        }
    }
    return true;
}

double Engine::not_accessed(uint64_t address, Granularity granularity) const {
    const Region *const region = table.find(address);
    if (!region)
        return 0;
    const Span span = chunk(address, granularity);
    uint32_t probed = 0, untouched = 0;
    for (uint32_t page = span.first; page < span.end; page++)
        if (region->probed.has(page)) {
            probed++;
            untouched += region->probe.has(page);
        }
    return probed ? double(untouched) / probed : 0;
}

} // namespace tc
