// The engine's thread: waits until near memory is about to be full, and then limits it.
#include "engine.h"
#include "own_memory.h"
#include <cerrno>
#include <ctime>
#include <fcntl.h>
#include <poll.h>
#include <sys/mman.h>
#include <unistd.h>

namespace tc {
namespace {

constexpr uint64_t millisecond = 1000000;
constexpr uint64_t prefetched_at_once = 64; // pages

void sleep_for(uint64_t ns) {
    const timespec time{time_t(ns / 1000000000), long(ns % 1000000000)};
    nanosleep(&time, nullptr);
}

} // namespace

bool Engine::prepare() {
    limit = settings.near_bytes / page_bytes;
    spare = limit / 64 > region_pages ? limit / 64 : region_pages;
    zeros = static_cast<char *>(own_memory_map(1 << 16));
    text = static_cast<char *>(own_memory_map(1 << 16));
    auto *const list = static_cast<Follower *>(own_memory_map(sizeof(Follower) * Following::most));
    // Alone, so that it never becomes part of a mapping of the program's.
    void *const three =
        mmap(nullptr, 3 * page_bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (!zeros || !text || !list || three == MAP_FAILED || !table.prepare())
        return false;
    following.prepare(list);
    gate = reinterpret_cast<uint64_t>(three) + page_bytes;
    mprotect(reinterpret_cast<void *>(gate), page_bytes, PROT_READ | PROT_WRITE);
    back_end = make_back_end(settings);
    policy = thermocline::migration::make_policy(settings.policy);
    started = monotonic_ns();
    return back_end && policy;
}

void Engine::run() {
    {
        Guard guard(lock);
        why_not = Userfault::open(userfault);
        status_file = open("/proc/self/statm", O_RDONLY | O_CLOEXEC);
        back_end->prepare();
    }
    write_report();
    while (why_not) // nothing is managed; the report says why
        sleep_for(1000 * millisecond);
    wait_roomy();
    for (;;) {
        pollfd ready{userfault.fd(), POLLIN, 0};
        const bool idle = poll(&ready, 1, 1) == 0;
        const uint64_t now = monotonic_ns();
        {
            Guard guard(lock);
            events();
            if (idle)
                back_end->flush();
            drop_copies();
            policy->tick(now);
            if (forking.load() == 0) {
                if (now - counted_at >= millisecond)
                    look_for_news(now);
                ahead_of_need();
            }
        }
        checkpoint(now);
    }
}

// Memory that is not known to the engine: seen by its pages at once, or sooner or later.
void Engine::look_for_news(uint64_t now) {
    counted_at = now;
    const uint64_t known = near_pages() + far_pages, resident = anonymous_pages();
    const uint64_t growth = limit / 64 > 256 ? limit / 64 : 256;
    if (resident > known + unmanaged_pages + growth || now - looked_at > 100 * millisecond)
        look_at_mappings();
}

// As long as all fits, the kernel alone is at work.
void Engine::wait_roomy() {
    for (;;) {
        const uint64_t room = limit - limit / 16, now = anonymous_pages();
        if (now >= room) {
            Guard guard(lock);
            if (forking.load() == 0) {
                enter_limited();
                return;
            }
        }
        // What a thread could fill at some GB/s is seen in time.
        const uint64_t ms = now < room ? (room - now) / 2048 : 0;
        sleep_for((ms < 1 ? 1 : ms > 50 ? 50 : ms) * millisecond);
        checkpoint(monotonic_ns());
    }
}

void Engine::enter_limited() {
    limited = true;
    *reinterpret_cast<char *>(table.shadow_from()) = 0; // of no region: see is_changing
    userfault.watch(table.shadow_from(), table.shadow_to());
    userfault.watch(gate, gate + page_bytes);
    look_at_mappings();
}

// Between faults: room for the next ones.
void Engine::ahead_of_need() {
    const auto is_asked = [&] {
        pollfd ready{userfault.fd(), POLLIN, 0};
        return poll(&ready, 1, 0) > 0 || forking.load() > 0;
    };
    // The next fault is for this, most likely; but others must not wait for long.
    for (uint64_t pages = 0; ahead.chunks > 0 && forking.load() == 0;)
        if (pages < prefetched_at_once || !is_asked())
            pages += prefetch();
        else
            break;
    for (uint64_t i = visiting.count; i > 0 && visiting.count > visitors() && !is_asked(); i--)
        send_home();
    while (near_pages() + spare > limit && forking.load() == 0) {
        const uint64_t before = near_pages();
        make_room(before > limit ? 0 : limit - before + 1);
        if (near_pages() >= before || is_asked())
            return;
    }
}

void Engine::checkpoint(uint64_t now) {
    if (now - reported_at < 1000 * millisecond)
        return;
    reported_at = now;
    write_report();
}

} // namespace tc
