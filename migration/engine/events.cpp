// What the program does to mappings that are watched, as userfaultfd tells: the kernel lets it go
// on when its event has been read.
#include "engine.h"
#include <cerrno>
#include <poll.h>
#include <sys/mman.h>
#include <unistd.h>

namespace tc {

// Changes first: a fault that was read with them may be about what they changed.
void Engine::events() {
    constexpr unsigned most = 32;
    uffd_msg messages[most];
    for (;;) {
        const ssize_t bytes = read(userfault.fd(), messages, sizeof messages);
        if (bytes <= 0)
            return;
        const unsigned count = unsigned(size_t(bytes) / sizeof(uffd_msg));
        for (unsigned i = 0; i < count; i++)
            if (messages[i].event != UFFD_EVENT_PAGEFAULT)
                change(messages[i]);
        settle();
        for (unsigned i = 0; i < count; i++)
            if (messages[i].event == UFFD_EVENT_PAGEFAULT)
                fault(messages[i].arg.pagefault.address);
        if (count < most)
            return;
    }
}

void Engine::change(const uffd_msg &message) {
    const auto &about = message.arg;
    if (message.event == UFFD_EVENT_FORK)
        forked(int(about.fork.ufd));
    else if (message.event == UFFD_EVENT_REMAP)
        remapped(about.remap.from, about.remap.to, about.remap.len);
    else if (message.event == UFFD_EVENT_REMOVE)
        removed(about.remove.start, about.remove.end, false);
    else if (message.event == UFFD_EVENT_UNMAP &&
             !following.takes_unmap(about.remove.start, about.remove.end))
        removed(about.remove.start, about.remove.end, true);
}

// A thread waits until its event is read, and nothing moves until it runs again.  Faults that are
// read here happen again.
void Engine::let_mappings_change() {
    uffd_msg message;
    pollfd ready{userfault.fd(), POLLIN, 0};
    if (poll(&ready, 1, 1) <= 0 || read(userfault.fd(), &message, sizeof message) <= 0)
        return;
    if (message.event == UFFD_EVENT_PAGEFAULT)
        userfault.wake(message.arg.pagefault.address & ~(page_bytes - 1), page_bytes);
    else
        change(message);
}

// The program has no more use for what it has there.
void Engine::removed(uint64_t from, uint64_t to, bool unmapped) {
    const bool all = following.removed(from, to, [&](uint64_t shadow, uint64_t bytes) {
        discard(shadow, bytes);
        left_shadow(shadow, bytes);
    });
    counts.lost_pages += !all;
    forget(from, to, unmapped);
}

void Engine::forget(uint64_t from, uint64_t to, bool unmapped) {
    for (uint64_t base = from & ~(region_bytes - 1); base < to; base += region_bytes) {
        Region *const region = table.find(base);
        if (!region)
            continue;
        const Span span{base < from ? uint32_t((from - base) / page_bytes) : 0,
                        to - base < region_bytes ? uint32_t((to - base) / page_bytes)
                                                 : region_pages};
        find_strays(*region);
        runs(
            span, [&](uint32_t p) { return region->aside.has(p) || region->copied.has(p); },
            [&](uint32_t page, uint32_t end) {
                discard(table.shadow(*region, page), (end - page) * page_bytes);
            });
        for (uint32_t page = span.first; page < span.end; page++) {
            if (region->far.has(page))
                far_pages--;
            else if (region->mapped.has(page) || region->aside.has(page))
                leave_queue(*region, page);
            copied_pages -= region->copied.has(page);
            for (PageSet *set : {&region->mapped, &region->aside, &region->far, &region->probe,
                                 &region->probed, &region->copied})
                set->drop(page);
            if (unmapped)
                region->managed.drop(page);
        }
        if (region->managed.empty() && region->outgoing.empty())
            table.release(region);
    }
}

// A child gets what its parent has aside, and is left alone then.  It waits at `gate`, which no
// one fills, until its userfaultfd is closed.
void Engine::forked(int child) {
    counts.forks++;
    const Userfault to(child);
    bool alive = true;
    for (uint32_t number = 1; number < table.end() && alive; number++) {
        Region &region = table.at(number);
        if (!region.base)
            continue;
        find_strays(region);
        runs(
            {0, region_pages},
            [&](uint32_t p) { return alive && (region.aside.has(p) || region.copied.has(p)); },
            [&](uint32_t page, uint32_t end) {
                alive = give(to, region.base + page * page_bytes, table.shadow(region, page),
                             (end - page) * page_bytes);
            });
    }
    following.each([&](const Follower &follower) {
        alive = alive && give(to, follower.place, follower.shadow, follower.bytes);
    });
    close(child);
}

// False: the child is gone.
bool Engine::give(const Userfault &child, uint64_t place, uint64_t shadow, uint64_t bytes) {
    for (uint64_t at = 0; at < bytes; at += page_bytes) { // past one that it has, or has not
        const uint64_t done =                             // a mapping for (MADV_DONTFORK)
            child.copy(place + at, reinterpret_cast<void *>(shadow + at), bytes - at);
        counts.fork_pages += done / page_bytes;
        at += done;
        if (at < bytes && errno == ESRCH)
            return false;
    }
    return true;
}

void Engine::drop_copies() {
    if (copied_pages == 0 || forking.load() > 0)
        return;
    for (uint32_t number = 1; number < table.end(); number++) {
        Region &region = table.at(number);
        if (!region.base || region.copied.empty())
            continue;
        runs(
            {0, region_pages}, [&](uint32_t page) { return region.copied.has(page); },
            [&](uint32_t page, uint32_t end) {
                discard(table.shadow(region, page), (end - page) * page_bytes);
            });
        region.copied = PageSet{};
    }
    copied_pages = 0;
}

void Engine::before_fork() {
    Guard guard(lock);
    forking++;
}

void Engine::after_fork_in_parent() { forking--; }

void Engine::pin(uint64_t from, uint64_t to) {
    {
        Guard guard(lock);
        for (uint64_t at = from & ~(page_bytes - 1); at < to; at += page_bytes)
            pinned.get(at / region_bytes).put(uint32_t(at / page_bytes % region_pages));
    }
    for (uint64_t at = from & ~(page_bytes - 1); at < to; at += page_bytes) {
        *reinterpret_cast<volatile char *>(at);
    }
}

} // namespace tc
