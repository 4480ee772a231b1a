// See site_heap_thread.h.
#include "site_heap_thread.h"
#include "own_memory.h"
#include <pthread.h>

namespace {

constexpr size_t arena_bytes = 64 << 10;
tc::Lock heaps_lock;
std::atomic<ThreadHeap *> heaps;
ThreadHeap *unused_heaps;
pthread_key_t end_key;
bool end_key_made;
pthread_once_t end_once = PTHREAD_ONCE_INIT;

// In the child of a fork: its only thread's heap, until that thread comes back for it.
ThreadHeap *forked_heap;

void end_thread(void *argument) {
    auto *heap = static_cast<ThreadHeap *>(argument);
    own_site_heap = nullptr;
    take_returned(heap);
    release_parked(heap);
    for (Bin *&bin : heap->resting) {
        if (bin)
            bin->resting = false;
        bin = nullptr;
    }
    for (Bin &bin : heap->tagged)
        end_bin(&bin);
    for (auto &slot : heap->chunks) {
        SiteCache **chunk = slot.load(std::memory_order_relaxed);
        for (unsigned site = 0; chunk && site < ThreadHeap::chunk_sites; ++site)
            for (Bin *bin = chunk[site] ? chunk[site]->bins : nullptr; bin; bin = bin->next)
                end_bin(bin);
    }
    tc::Guard guard(heaps_lock);
    heap->next_unused = unused_heaps;
    unused_heaps = heap;
}

ThreadHeap *make_heap() {
    tc::Guard guard(heaps_lock);
    if (ThreadHeap *heap = unused_heaps) {
        unused_heaps = heap->next_unused;
        return heap;
    }
    auto *heap = static_cast<ThreadHeap *>(own_memory_map(sizeof(ThreadHeap)));
    if (!heap)
        return nullptr;
    for (unsigned c = 0; c < first_medium_class; ++c)
        heap->tagged[c].size_class = uint8_t(c);
    heap->next_heap = heaps.load(std::memory_order_relaxed);
    heaps.store(heap, std::memory_order_release);
    return heap;
}

// From the thread's own arena: 16-byte aligned, zero, for ever.
void *arena_take(ThreadHeap *heap, size_t bytes) {
    bytes = (bytes + 15) & ~size_t(15);
    if (bytes > size_t(heap->arena_end - heap->arena)) {
        char *fresh = static_cast<char *>(own_memory_map(arena_bytes));
        if (!fresh)
            return nullptr;
        heap->arena = fresh;
        heap->arena_end = fresh + arena_bytes;
    }
    void *memory = heap->arena;
    heap->arena += bytes;
    return memory;
}

void lock_all() {
    heaps_lock.acquire();
    lock_abandoned();
    tables_lock.acquire();
    units_lock.acquire();
}
void unlock_all() {
    units_lock.release();
    tables_lock.release();
    unlock_abandoned();
    heaps_lock.release();
}
void after_fork_in_child() {
    unlock_all();
    forked_heap = own_site_heap;
    own_site_heap = nullptr;
    stats_restart_in_child();
}

} // namespace

__thread ThreadHeap *own_site_heap __attribute__((tls_model("initial-exec")));
void (*first_use_in_child)();

ThreadHeap *first_site_heap() { return heaps.load(std::memory_order_acquire); }

ThreadHeap *thread_site_heap() {
    if (own_site_heap) [[likely]]
        return own_site_heap;
    if (ThreadHeap *heap = forked_heap) {
        forked_heap = nullptr;
        own_site_heap = heap;
        if (first_use_in_child)
            first_use_in_child();
        return heap;
    }
    ThreadHeap *heap = make_heap();
    own_site_heap = heap;
    if (heap) { // after own_site_heap is set: these may allocate
        heap->stack_frame.store(reinterpret_cast<uintptr_t>(__builtin_frame_address(0)),
                                std::memory_order_relaxed);
        pthread_once(&end_once, [] { end_key_made = !pthread_key_create(&end_key, end_thread); });
        if (end_key_made) // else a thread's heap is lost with it, and nothing worse
            pthread_setspecific(end_key, heap);
    }
    return heap;
}

SiteCache *site_cache(ThreadHeap *heap, uint32_t site) {
    std::atomic<SiteCache **> &slot = heap->chunks[site >> ThreadHeap::chunk_shift];
    SiteCache **chunk = slot.load(std::memory_order_relaxed);
    if (chunk)
        if (SiteCache *cache = chunk[site % ThreadHeap::chunk_sites]) [[likely]]
            return cache;
    if (!chunk) {
        chunk = static_cast<SiteCache **>(
            own_memory_map(ThreadHeap::chunk_sites * sizeof(SiteCache *)));
        if (!chunk)
            return nullptr;
        slot.store(chunk, std::memory_order_release);
    }
    auto *cache = static_cast<SiteCache *>(arena_take(heap, sizeof(SiteCache)));
    SiteTotals *totals = stats_totals(site);
    if (!cache || !totals)
        return nullptr;
    cache->site = site ? site : site_heap_unknown;
    cache->counters.totals = totals;
    __atomic_store_n(&chunk[site % ThreadHeap::chunk_sites], cache, __ATOMIC_RELEASE);
    return cache;
}

Bin *site_bin(ThreadHeap *heap, SiteCache *cache, unsigned size_class) {
    uint32_t key = bin_key(cache->site & (site_limit - 1), size_class); // of no site: 0
    Bin *&recent = heap->recent_bin(key);
    if (recent && recent->key == key) [[likely]]
        return recent;
    Bin *bin = cache->bins;
    while (bin && bin->size_class != size_class)
        bin = bin->next;
    if (!bin) {
        bin = static_cast<Bin *>(arena_take(heap, sizeof(Bin)));
        if (!bin)
            return nullptr;
        bin->site = cache->site;
        bin->key = key;
        bin->slot_bytes = slot_bytes(size_class);
        bin->size_class = uint8_t(size_class);
        bin->cache = cache;
        unsigned tagged_class = tagged_class_for(slot_bytes(size_class), 0);
        bin->from = tagged_class < first_medium_class ? &heap->tagged[tagged_class] : bin;
        bin->next = cache->bins;
        cache->bins = bin;
    }
    return recent = bin;
}

void site_heap_at_fork() { pthread_atfork(lock_all, unlock_all, after_fork_in_child); }
