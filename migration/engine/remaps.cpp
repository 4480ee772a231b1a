// mremap: see following.h.
#include "engine.h"
#include <cerrno>

namespace tc {

// What is in place has moved with its mapping; what is aside follows, more than fits near leaves
// again afterwards.
void Engine::remapped(uint64_t from, uint64_t to, uint64_t bytes) {
    counts.remaps++;
    counts.lost_pages += !following.moved(from, to, bytes);
    for (uint64_t at = from & ~(region_bytes - 1); at < from + bytes; at += region_bytes)
        if (Region *const region = table.find(at))
            find_strays(*region);
    for (uint64_t at = 0; at < bytes; at += page_bytes)
        rename_page(from + at, to + at);
    forget(from, from + bytes, true); // of what is in the shadows only copies are left
    following.expect_unmap(from, from + bytes);
}

void Engine::rename_page(uint64_t from, uint64_t to) {
    Region *const old = table.find(from);
    const uint32_t page = uint32_t(from / page_bytes % region_pages);
    if (!old || !old->managed.has(page))
        return;
    if (old->aside.has(page)) {
        if (!following.add({table.shadow(*old, page), to, page_bytes}, region_bytes)) {
            counts.lost_pages++;
            return;
        }
        old->outgoing.put(page);
        if (old->far.has(page))
            far_pages--;
        else
            leave_queue(*old, page);
        old->far.drop(page);
        old->aside.drop(page);
    }
    if (Region *const region = table.make(to)) { // watched like the old place
        const uint32_t there = uint32_t(to / page_bytes % region_pages);
        region->managed.put(there);
        if (old->mapped.has(page) && !region->mapped.has(there)) {
            region->mapped.put(there);
            stand(*region, there, false);
        }
    }
}

// Until nothing is on its way: no thread is in the middle of an mremap either, then.
void Engine::settle() {
    while (!following.empty() || following.expects()) {
        if (following.empty() ? is_changing() : !follow(following.last()))
            let_mappings_change();
        else if (following.empty())
            following.expect_none();
    }
}

// False: mappings are changing.
bool Engine::follow(Follower &follower) {
    const auto [shadow, place, bytes] = follower;
    uint64_t done = userfault.move(place, shadow, bytes, true);
    if (done == 0) {
        if (errno == EAGAIN)
            return false;
        if (userfault.copy(place, reinterpret_cast<void *>(shadow), page_bytes) == 0) {
            if (errno == EAGAIN)
                return false;
            counts.lost_pages++; // unmapped again
            place_taken(place, false);
        } else {
            place_taken(place, true);
        }
        discard(shadow, page_bytes);
        done = page_bytes;
    } else {
        for (uint64_t at = 0; at < done; at += page_bytes)
            place_taken(place + at, true);
    }
    left_shadow(shadow, done);
    if (done == bytes)
        following.drop_last();
    else
        follower = {shadow + done, place + done, bytes - done};
    return true;
}

void Engine::place_taken(uint64_t place, bool there) {
    Region *const region = table.find(place);
    const uint32_t page = uint32_t(place / page_bytes % region_pages);
    if (!there || !region || !region->managed.has(page) || region->mapped.has(page))
        return;
    region->mapped.put(page);
    stand(*region, page, false);
}

// A region is kept as long as its shadow holds something.
void Engine::left_shadow(uint64_t shadow, uint64_t bytes) {
    Region &region = table.region_of_shadow(shadow);
    for (uint64_t at = 0; at < bytes; at += page_bytes)
        region.outgoing.drop(uint32_t((shadow + at) / page_bytes % region_pages));
    if (region.managed.empty() && region.outgoing.empty())
        table.release(&region);
}

// Whether a thread waits until what it changes has been read, or soon will.
bool Engine::is_changing() {
    return userfault.copy(table.shadow_from(), zeros, page_bytes) == 0 && errno == EAGAIN;
}

} // namespace tc
