// The start of the library, and the slow path of every entry.
#include "runtime.h"
#include "aside.h"
#include "callpath/call_path.h"
#include "capacity.h"
#include "environment.h"
#include "huge_alignment.h"
#include "modules.h"
#include "recording.h"
#include "report.h"
#include "sampler.h"
#include "sites.h"
#include "sites_mode.h"
#include "text.h"
#include "tiers.h"
#include <cerrno>
#include <cstring>
#include <ctime>
#include <pthread.h>
#include <sched.h>
#include <unistd.h>

// Of the page migration engine, where that is at work too (migration/engine/planned.h).
extern "C" __attribute__((weak)) void tc_migrate_tiers(uint64_t start, unsigned shift,
                                                       unsigned tiers);

namespace tc {

State state;

#define EMPTY ALLOC_EMPTY_HEAP
#define EMPTY_6 EMPTY, EMPTY, EMPTY, EMPTY, EMPTY, EMPTY
#define EMPTY_HEAPS {EMPTY_6, EMPTY_6, EMPTY_6}
static_assert(placement_count == 18, "as many as in EMPTY_HEAPS");
__thread Thread thread
    __attribute__((tls_model("initial-exec"))) = {EMPTY_HEAPS, EMPTY_HEAPS, EMPTY, nullptr, false};

namespace {

enum : int { not_started, starting, started };
int phase;
pthread_t starter;

// What the configuration asks for beyond a plain heap; null, or what went wrong.
const char *start_mode() {
    Config &config = state.config;
    if (config.heap == HeapMode::guided) {
        if (const char *fault = start_tiers(config))
            return fault;
        if (!start_capacity(config))
            return "there is no address space left for the capacity table";
        if (tc_migrate_tiers)
            tc_migrate_tiers(ranges.start, ranges.shift, ranges.tiers);
    }
    if (config.nonheap_tier >= 0 && config.heap == HeapMode::guided &&
        !prefer_tier_for_thread(static_cast<unsigned>(config.nonheap_tier)))
        return "the kernel refuses to prefer a tier for data that is not heap";
    if (config.heap == HeapMode::sites)
        if (const char *fault = start_site_heap(config))
            return fault;
    if (config.preload && !start_call_paths(config.context))
        return "there is no memory left for the table of call paths";
    const char *why = nullptr;
    if (config.sampler) {
        const Sampler *sampler = find_sampler(config.sampler);
        if (!sampler)
            return "this library has no sampler of that name";
        if (!sampler->start(config, &why))
            return why;
    }
    return nullptr;
}

void read_configuration() {
    char path[4096], fault[200], message[4600];
    if (!environment_variable("THERMOCLINE_CONFIG", path, sizeof path) || !*path)
        return;
    const char *what = fault;
    if (load_config(path, state.config, fault, sizeof fault)) {
        start_report(state.config);
        what = state.stepped_aside ? nullptr : start_mode();
        if (state.stepped_aside && state.config.preload && state.config.heap == HeapMode::sites) {
            Line(message, sizeof message) << "malloc is that of " << state.stepped_aside
                                          << ", so this program is not profiled";
            complain(message);
        }
        if (!what)
            return;
    }
    drop_config(state.config);
    ranges.count = 0;
    Line(message, sizeof message) << path << ": " << what
                                  << "; the program runs without Thermocline";
    complain(message);
}

void start_once() {
    alloc_start();
    state.started = nanoseconds();
    state.pid = getpid();
    state.stepped_aside = foreign_malloc();
    state.new_replaced = !state.stepped_aside && foreign_new();
    handle_forks();
    read_configuration();
    if (state.config.heap != HeapMode::sites)
        leave_sites_out();
}

// The site of an allocation that carries none: its call path's, or its module's.
uint32_t site_of_code(const Request &request, const char *routine) {
    if (!state.config.preload || !request.caller.frame)
        return unannotated_site(request.caller.address);
    if (!routine)
        routine = request.zero ? "calloc" : request.align ? "aligned_alloc" : "malloc";
    return call_path_site(request.caller.frame, routine);
}

uint32_t site_number(const Request &request, const char *routine = nullptr) {
    const tc_site *site = request.site ? request.site : thread.carried;
    return site && site->id ? site->id : site_of_code(request, routine);
}

uint32_t placement_for(const Request &request) {
    tc_site *site = request.site ? request.site : thread.carried;
    if (site) {
        const uint32_t placement = __atomic_load_n(&site->placement, __ATOMIC_RELAXED);
        return placement == placement_unresolved ? resolve(site) : placement;
    }
    if (state.config.heap != HeapMode::guided)
        return placement_first_class;
    if (state.config.plans_unannotated)
        if (SiteRecord *record = site_record(site_of_code(request, nullptr))) {
            record->reached = true;
            return record->placement;
        }
    return placement_of(static_cast<uint32_t>(state.config.default_tier));
}

mi_heap_t *thread_heap(uint32_t placement) {
    Thread &t = thread;
    if (t.heaps[placement] != ALLOC_EMPTY_HEAP)
        return t.heaps[placement];
    mi_heap_t *heap = alloc_default_heap();
    if (state.config.heap == HeapMode::guided && heap) {
        const unsigned number = placement - placement_first_class;
        heap = alloc_new_heap(ranges.arena[number], number + 1);
    }
    if (!heap)
        return nullptr;
    t.heaps[placement] = heap;
    if (!state.new_replaced)
        t.new_heaps[placement] = heap;
    return heap;
}

// Lets malloc's fast path find the heap that this request was served from.
void remember_unannotated(mi_heap_t *heap) {
    Thread &t = thread;
    if (!t.carried && !state.config.plans_unannotated)
        t.unannotated = heap;
    if (t.carried || !state.config.plans_unannotated)
        t.heaps[placement_unannotated] = heap;
}

void *block_of(mi_heap_t *heap, const Request &request) {
    if (!heap) {
        errno = ENOMEM;
        return nullptr;
    }
    if (request.align > ALLOC_ALIGN_MAX)
        return allocate_huge_alignment(heap, request.size, request.align);
    return alloc_block(heap, request.size, request.align, request.zero);
}

// A class's range is full (they are small where address space is limited): the next tiers', and
// then memory of no tier.
void *block_elsewhere(uint32_t placement, const Request &request) {
    void *p = nullptr;
    for (unsigned tier = next_tier(placement - placement_first_class); !p && tier < ranges.tiers;
         tier++)
        p = block_of(thread_heap(placement_of(tier)), request);
    return p ? p : block_of(alloc_default_heap(), request);
}

void give_back(void *p) {
    if ((reinterpret_cast<uintptr_t>(p) & (ALLOC_SEGMENT_BYTES - 1)) == 0 || in_site_heap(p))
        release(p);
    else
        alloc_free(p);
}

// A block that a new size fits so well that mimalloc would leave it, and in the right class.
bool stays(const void *p, size_t old, const Request &request) {
    if (request.size > old || request.size < old / 2)
        return false;
    return ranges.count == 0 || class_of(p) == placement_for(request) - placement_first_class;
}

} // namespace

uint64_t nanoseconds() {
    timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return static_cast<uint64_t>(now.tv_sec) * 1000000000 + static_cast<uint64_t>(now.tv_nsec);
}

bool start() {
    if (__builtin_expect(__atomic_load_n(&phase, __ATOMIC_ACQUIRE) == started, 1))
        return true;
    int expected = not_started;
    if (__atomic_compare_exchange_n(&phase, &expected, starting, false, __ATOMIC_ACQ_REL,
                                    __ATOMIC_ACQUIRE)) {
        __atomic_store_n(&starter, pthread_self(), __ATOMIC_RELEASE);
        const int saved = errno;
        start_once();
        errno = saved;
        __atomic_store_n(&phase, started, __ATOMIC_RELEASE);
        return true;
    }
    while (__atomic_load_n(&phase, __ATOMIC_ACQUIRE) != started) {
        if (__atomic_load_n(&starter, __ATOMIC_ACQUIRE) == pthread_self())
            return false;
        sched_yield();
    }
    return true;
}

void *allocate(const Request &request) {
    if (!start()) {
        thread.in_start = true;
        return alloc_block(alloc_default_heap(), request.size, request.align, request.zero);
    }
    if (state.stepped_aside && !is_forwarded(request))
        return request.by_new ? nullptr : foreign_allocate(request);
    if (request.by_new && state.new_replaced)
        return nullptr; // the caller goes on to the real one
    if (state.config.heap == HeapMode::sites) {
        void *p = site_heap_block(site_number(request), request);
        if (!p)
            errno = ENOMEM;
        return p;
    }
    const uint32_t placement = placement_for(request);
    mi_heap_t *heap = thread_heap(placement);
    // Not beside another malloc: there each call has to be looked at.
    if (heap && !request.site && !state.stepped_aside)
        remember_unannotated(heap);
    void *p = block_of(heap, request);
    return p || ranges.count == 0 ? p : block_elsewhere(placement, request);
}

void *reallocate(void *p, const Request &request) {
    if (start() && state.stepped_aside && (request.site || !is_realloc_forwarded()))
        return foreign_reallocate(p, request.size);
    if (!p)
        return allocate(request);
    if (request.size == 0) {
        give_back(p);
        return nullptr;
    }
    if (in_site_heap(p))
        return site_heap_resized(site_number(request, "realloc"), p, request.size);
    const size_t old = usable(p);
    if (stays(p, old, request))
        return p;
    void *fresh = allocate(request);
    if (!fresh)
        return nullptr;
    memcpy(fresh, p, old < request.size ? old : request.size);
    give_back(p);
    return fresh;
}

void release(void *p) {
    if (!p)
        return;
    const int saved = errno;
    if (in_site_heap(p))
        site_heap_release(p);
    else
        free_huge_alignment(p);
    errno = saved;
}

size_t usable(const void *p) {
    if (start() && state.stepped_aside && !alloc_owns(p))
        return foreign_usable(const_cast<void *>(p));
    if (in_site_heap(p))
        return site_heap_room(p);
    if ((reinterpret_cast<uintptr_t>(p) & (ALLOC_SEGMENT_BYTES - 1)) == 0)
        return usable_huge_alignment(p);
    return alloc_usable(p);
}

} // namespace tc

extern "C" void alloc_thread_ends(void) {
    using tc::thread;
    for (mi_heap_t *&heap : thread.heaps)
        heap = ALLOC_EMPTY_HEAP;
    for (mi_heap_t *&heap : thread.new_heaps)
        heap = ALLOC_EMPTY_HEAP;
    thread.unannotated = ALLOC_EMPTY_HEAP;
}
