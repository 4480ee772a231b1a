// Pages between their place and their shadow.
#include "engine.h"
#include <cerrno>
#include <cstring>
#include <sys/mman.h>

namespace tc {

// Shared copy-on-write with a child: MOVE refuses those (EBUSY), and a write would copy them, so
// that is what we ask for.  Only where a page is: else this thread would wait for itself.
bool Engine::break_sharing(uint64_t address) {
    unsigned char there = 0;
    void *const at = reinterpret_cast<void *>(address);
    if (mincore(at, page_bytes, &there) != 0 || !(there & 1))
        return false;
    return madvise(at, page_bytes, MADV_POPULATE_WRITE) == 0;
}

// Linux 6.18 does not count all that it moves.  Userfault::move() knows how and asks, but what is
// wrong there is lost data: so nothing is filled with zeros before its shadow has been looked at.
bool Engine::is_in_shadow(const Region &region, uint32_t page) const {
    unsigned char there = 0;
    return !region.copied.has(page) &&
           mincore(reinterpret_cast<void *>(table.shadow(region, page)), page_bytes, &there) == 0 &&
           (there & 1);
}

// The same of a whole region, for what is about to look at all that is aside.
void Engine::find_strays(Region &region) {
    unsigned char there[region_pages];
    if (mincore(reinterpret_cast<void *>(table.shadow(region, 0)), region_bytes, there) != 0)
        return;
    for (uint32_t page = 0; page < region_pages; page++) {
        if (!(there[page] & 1) || !region.managed.has(page) || region.aside.has(page) ||
            region.copied.has(page) || region.outgoing.has(page))
            continue;
        counts.found++;
        if (!region.mapped.has(page))
            stand(region, page, false);
        region.mapped.drop(page);
        region.aside.put(page);
    }
}

Engine::Moved Engine::put_aside(Region &region, uint32_t page, uint32_t end) {
    Moved result = Moved::no;
    bool mended = false;
    while (page < end) {
        const uint64_t from = region.base + page * page_bytes;
        const uint64_t done =
            userfault.move(table.shadow(region, page), from, (end - page) * page_bytes, false);
        const int why = errno;
        for (uint64_t i = 0; i < done / page_bytes; i++, page++) {
            region.mapped.drop(page);
            region.aside.put(page);
            result = Moved::yes;
            mended = false;
        }
        if (page == end)
            break;
        if (why == EAGAIN)
            return Moved::changing;
        if (why == ENOENT) { // given back meanwhile
            find_strays(region);
            if (region.aside.has(page)) {
                result = Moved::yes;
            } else {
                region.mapped.drop(page);
                leave_queue(region, page);
            }
            page++;
        } else if (why == EBUSY && !mended && break_sharing(region.base + page * page_bytes)) {
            mended = true;
        } else { // pinned for a device, locked, read-only: stays
            counts.unmovable++;
            mended = false;
            page++;
        }
    }
    return result;
}

uint32_t Engine::checksum_of(uint64_t shadow) const {
    const auto *words = reinterpret_cast<const uint64_t *>(shadow);
    uint64_t sum = 0;
    for (unsigned i = 0; i < page_bytes / 8; i++)
        sum = (sum ^ words[i]) * 0x9e3779b97f4a7c15 + (sum >> 29);
    return uint32_t(sum >> 32);
}

bool Engine::bring_copy(Region &region, uint32_t page) {
    const uint64_t shadow = table.shadow(region, page);
    const uint64_t to = region.base + page * page_bytes;
    if (userfault.copy(to, reinterpret_cast<void *>(shadow), page_bytes) == 0 && errno != EEXIST)
        return false; // its mapping is changing, or gone: an event is on the way
    counts.copied_in++;
    if (forking.load() > 0) {
        region.copied.put(page);
        copied_pages++;
    } else {
        discard(shadow, page_bytes);
    }
    return true;
}

// Those of the pages that come are mapped and no longer aside; who waits for them is woken.
void Engine::bring(Region &region, uint32_t page, uint32_t end) {
    const auto arrived = [&](uint32_t at) {
        far_pages -= region.far.has(at);
        region.aside.drop(at);
        region.far.drop(at);
        region.probe.drop(at);
        region.mapped.put(at);
    };
    if (settings.check)
        for (uint32_t at = page; at < end; at++)
            if (region.far.has(at)) {
                counts.checked++;
                counts.corrupt += checksum_of(table.shadow(region, at)) !=
                                  table.checksum(table.number(region, at));
            }
    const bool may_move = forking.load() == 0 && !settings.copy;
    while (page < end) {
        uint64_t done = 0;
        if (may_move)
            done = userfault.move(region.base + page * page_bytes, table.shadow(region, page),
                                  (end - page) * page_bytes, true);
        const int why = may_move ? errno : 0;
        for (uint64_t i = 0; i < done / page_bytes; i++)
            arrived(page++);
        if (page == end)
            return;
        // While mappings change nothing can come: threads fault again, after the events.
        if (why == EAGAIN || !bring_copy(region, page)) {
            userfault.wake(region.base + page * page_bytes, (end - page) * page_bytes);
            return;
        }
        arrived(page++);
    }
}

void Engine::zero_fill(uint64_t address, uint64_t bytes) {
    for (uint64_t done = 0; done < bytes;) {
        done += userfault.copy(address + done, zeros, bytes - done);
        if (done == bytes)
            return;
        if (errno == EAGAIN)
            break;
        done += page_bytes; // there already, or gone
    }
    userfault.wake(address, bytes);
}

// Memory that is watched can't be given back by the thread that would read of it.
void Engine::discard(uint64_t shadow, uint64_t bytes) {
    userfault.unwatch(shadow, shadow + bytes);
    madvise(reinterpret_cast<void *>(shadow), bytes, MADV_DONTNEED);
    userfault.watch(shadow, shadow + bytes);
}

void Engine::stand(Region &region, uint32_t page, bool in_limbo) {
    if (in_limbo)
        region.limbo.put(page);
    else if (held.count < limit - limit / 8 && planned_place(region.base) == Planned::near)
        region.held.put(page);
    table.append(queue_of(region, page), table.number(region, page));
    counts.peak_held = held.count > counts.peak_held ? held.count : counts.peak_held;
    const uint64_t near = near_pages();
    counts.peak_near = near > counts.peak_near ? near : counts.peak_near;
}

void Engine::leave_queue(Region &region, uint32_t page) {
    table.take(queue_of(region, page), table.number(region, page));
    region.limbo.drop(page);
    region.held.drop(page);
}

} // namespace tc
