// The start of the library, and the slow path of every entry.
#include "runtime.h"
#include "aside.h"
#include "huge_alignment.h"
#include "modules.h"
#include "tiers.h"
#include <cerrno>
#include <cstring>
#include <pthread.h>
#include <sched.h>

namespace tc {

State state;
TierRanges ranges = {0, 63, 0, {}};
__thread Thread thread __attribute__((tls_model("initial-exec")));

namespace {

enum : int { not_started, starting, started };
int phase;
pthread_t starter;

void start_once() {
    alloc_start();
    thread.in_runtime = true;
    state.stepped_aside = foreign_malloc();
    state.new_replaced = !state.stepped_aside && foreign_new();
    thread.in_runtime = false;
}

} // namespace

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

mi_heap_t *thread_heap(uint32_t placement) {
    Thread &t = thread;
    if (t.heaps[placement])
        return t.heaps[placement];
    mi_heap_t *heap = alloc_default_heap();
    t.heaps[placement] = heap;
    if (!state.new_replaced)
        t.new_heaps[placement] = heap;
    return heap;
}

namespace {

// The heap for an allocation, once the mode is known to be plain or guided.
mi_heap_t *heap_for(const Request &request) {
    Thread &t = thread;
    if (request.site) {
        uint32_t placement = request.site->placement;
        if (placement == placement_unresolved)
            placement = resolve(request.site);
        return thread_heap(placement);
    }
    if (t.carried) {
        Request carried = request;
        carried.site = t.carried;
        mi_heap_t *heap = heap_for(carried);
        t.heaps[placement_unannotated] = heap;
        return heap;
    }
    mi_heap_t *heap = thread_heap(placement_first_tier);
    t.unannotated = t.heaps[placement_unannotated] = heap;
    return heap;
}

} // namespace

void *allocate(const Request &request) {
    if (!start())
        return alloc_block(alloc_default_heap(), request.size, request.align, request.zero);
    if (state.stepped_aside)
        return request.by_new ? nullptr : foreign_allocate(request);
    if (request.by_new && state.new_replaced)
        return nullptr; // the caller goes on to the real one
    mi_heap_t *heap = heap_for(request);
    if (!heap) {
        errno = ENOMEM;
        return nullptr;
    }
    if (request.align > ALLOC_ALIGN_MAX)
        return allocate_huge_alignment(heap, request.size, request.align);
    return alloc_block(heap, request.size, request.align, request.zero);
}

namespace {

void give_back(void *p) {
    if ((reinterpret_cast<uintptr_t>(p) & (ALLOC_SEGMENT_BYTES - 1)) == 0)
        release(p);
    else
        alloc_free(p);
}

} // namespace

void *reallocate(void *p, const Request &request) {
    if (start() && state.stepped_aside)
        return foreign_reallocate(p, request.size);
    if (request.size == 0) {
        give_back(p);
        return nullptr;
    }
    const size_t old = usable(p);
    const bool stays = true;
    if (stays && request.size <= old && request.size >= old / 2)
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
    if (start() && state.stepped_aside)
        return foreign_free(p);
    const int saved = errno;
    free_huge_alignment(p);
    errno = saved;
}

size_t usable(const void *p) {
    if (start() && state.stepped_aside)
        return foreign_usable(const_cast<void *>(p));
    if ((reinterpret_cast<uintptr_t>(p) & (ALLOC_SEGMENT_BYTES - 1)) == 0)
        return usable_huge_alignment(p);
    return alloc_usable(p);
}

} // namespace tc

extern "C" void alloc_thread_ends(void) {
    using tc::thread;
    memset(thread.heaps, 0, sizeof thread.heaps);
    memset(thread.new_heaps, 0, sizeof thread.new_heaps);
    thread.unannotated = nullptr;
}
