// See site_heap_thread.h.
#include "site_heap_thread.h"
#include "own_memory.h"
#include <pthread.h>

namespace {

constexpr size_t arena_bytes = 64 << 10;
constexpr unsigned full_looks = 4; // full spans to look at before a new one is made

// Spans whose thread ended, by site and class; any thread may adopt one for the same site.
constexpr unsigned bucket_count = 4096, stripe_count = 64;
std::atomic<Span *> abandoned[bucket_count];
tc::Lock stripes[stripe_count];

tc::Lock heaps_lock;
std::atomic<ThreadHeap *> heaps;
ThreadHeap *unused_heaps;
pthread_key_t end_key;
bool end_key_made;
pthread_once_t end_once = PTHREAD_ONCE_INIT;

__thread ThreadHeap *own_heap __attribute__((tls_model("initial-exec")));

// In the child of a fork: its only thread's heap, until that thread comes back for it.
ThreadHeap *forked_heap;

unsigned bucket_of(uint32_t site, unsigned size_class) {
    return (site * 2654435761u + size_class * 40503u) >> 7 & (bucket_count - 1);
}

// Circular lists; the head is the first to be looked at.
void list_append(Span *&head, Span *span) {
    if (!head)
        head = span->next = span->prev = span;
    span->next = head;
    span->prev = head->prev;
    head->prev->next = span;
    head->prev = span;
}
void list_remove(Span *&head, Span *span) {
    if (head == span)
        head = span->next == span ? nullptr : span->next;
    span->prev->next = span->next;
    span->next->prev = span->prev;
}

// Puts a stack of remotely freed slots, `word`'s, in front of the span's own.
void absorb(Span *span, uint64_t word) {
    unsigned count = remote_count(word);
    if (!count)
        return;
    uint16_t *links = span->tables.load(std::memory_order_relaxed)->links();
    unsigned last = remote_head(word) - 1;
    while (uint16_t next = load_link(&links[last]))
        last = next - 1;
    store_link(&links[last], span->free_head);
    span->free_head = remote_head(word);
    span->used -= count;
}

void drain(Span *span) {
    if (remote_count(span->remote.load(std::memory_order_relaxed)))
        absorb(span, span->remote.exchange(0, std::memory_order_acq_rel));
}

void make_current(Bin *bin, Span *span) {
    span->state = SpanState::current;
    bin->current = span;
}

// The current span has no slot.  True if other threads gave some back in the meantime.
bool retire_current(Bin *bin) {
    Span *span = bin->current;
    uint64_t nothing = 0;
    if (!span->remote.compare_exchange_strong(nothing, remote_full, std::memory_order_acq_rel)) {
        drain(span);
        return true;
    }
    span->state = SpanState::full;
    list_append(bin->full, span);
    bin->current = nullptr;
    return false;
}

// Looks at a few full spans for slots that other threads gave back, the longest unseen first.
bool reopen_full(Bin *bin) {
    unsigned slots = slots_of_class(bin->size_class);
    for (unsigned looks = 0; looks < full_looks && bin->full; ++looks) {
        Span *span = bin->full;
        uint64_t word = span->remote.load(std::memory_order_acquire);
        unsigned count = remote_count(word);
        // At `slots` the last freeing thread is about to return the span by itself.
        if (count && count < slots &&
            span->remote.compare_exchange_strong(word, 0, std::memory_order_acq_rel)) {
            list_remove(bin->full, span);
            absorb(span, word);
            make_current(bin, span);
            return true;
        }
        bin->full = span->next;
    }
    return false;
}

bool adopt(ThreadHeap *heap, Bin *bin) {
    unsigned bucket = bucket_of(bin->site, bin->size_class);
    if (!abandoned[bucket].load(std::memory_order_relaxed))
        return false;
    tc::Guard guard(stripes[bucket % stripe_count]);
    Span *head = abandoned[bucket].load(std::memory_order_relaxed);
    Span *span = head;
    while (span) {
        if (span->site.load(std::memory_order_relaxed) != bin->site ||
            span->size_class != bin->size_class) {
            span = span->next != head ? span->next : nullptr;
            continue;
        }
        list_remove(head, span);
        abandoned[bucket].store(head, std::memory_order_relaxed);
        span->bin = bin;
        span->owner.store(heap, std::memory_order_relaxed);
        absorb(span, span->remote.exchange(0, std::memory_order_acq_rel));
        make_current(bin, span);
        return true;
    }
    return false;
}

// Leaves a span to whoever uses its site next.
void abandon(Span *span) {
    unsigned bucket = bucket_of(span->site.load(std::memory_order_relaxed), span->size_class);
    {
        tc::Guard guard(stripes[bucket % stripe_count]);
        span->bin = nullptr;
        span->owner.store(nullptr, std::memory_order_relaxed);
        uint64_t word = span->remote.load(std::memory_order_relaxed), frozen;
        do { // what others freed until now is absorbed, so that the count starts at 0
            frozen = uint64_t(span->used - remote_count(word)) << remote_frozen_shift;
        } while (!span->remote.compare_exchange_weak(word, frozen ? remote_abandoned | frozen : 0,
                                                     std::memory_order_acq_rel));
        absorb(span, word);
        if (frozen) {
            Span *head = abandoned[bucket].load(std::memory_order_relaxed);
            list_append(head, span);
            abandoned[bucket].store(head, std::memory_order_relaxed);
            return;
        }
    }
    span_release(span);
}

// `word` said that the last block of an abandoned span came back.
void release_abandoned(Span *span, uint32_t site, unsigned size_class) {
    unsigned bucket = bucket_of(site, size_class);
    {
        tc::Guard guard(stripes[bucket % stripe_count]);
        // It may have been adopted, and worse, since.
        uint64_t word = span->remote.load(std::memory_order_acquire);
        if (!(word & remote_abandoned) || remote_count(word) != remote_frozen(word) ||
            span->site.load(std::memory_order_relaxed) != site || span->size_class != size_class)
            return;
        Span *head = abandoned[bucket].load(std::memory_order_relaxed);
        list_remove(head, span);
        abandoned[bucket].store(head, std::memory_order_relaxed);
        span->remote.store(0, std::memory_order_relaxed);
    }
    span_release(span);
}

void take_returned(ThreadHeap *heap) {
    if (!heap->returned.load(std::memory_order_relaxed))
        return;
    Span *span = heap->returned.exchange(nullptr, std::memory_order_acquire);
    while (span) {
        Span *next = span->next_returned;
        list_remove(span->bin->full, span);
        span_release(span);
        span = next;
    }
}

void rest(ThreadHeap *heap, Bin *bin) {
    if (bin->resting)
        return;
    bin->resting = true;
    unsigned at = heap->next_resting++ % ThreadHeap::resting_bins;
    Bin *oldest = heap->resting[at];
    heap->resting[at] = bin;
    if (!oldest)
        return;
    oldest->resting = false;
    if (Span *span = oldest->current) {
        drain(span);
        if (span->used == 0) {
            oldest->current = nullptr;
            span_release(span);
        }
    }
}

void end_bin(Bin *bin) {
    if (Span *span = bin->current) {
        bin->current = nullptr;
        abandon(span);
    }
    while (Span *span = bin->partial) {
        list_remove(bin->partial, span);
        abandon(span);
    }
    Span *returning = nullptr;
    while (Span *span = bin->full) {
        list_remove(bin->full, span);
        uint64_t word = span->remote.load(std::memory_order_acquire);
        bool taken = false;
        while (remote_count(word) < slots_of_class(bin->size_class) && !taken)
            taken = span->remote.compare_exchange_weak(word, 0, std::memory_order_acq_rel);
        if (taken) {
            absorb(span, word);
            abandon(span);
        } else {
            list_append(returning, span); // comes by `returned`, perhaps to the heap's next thread
        }
    }
    bin->full = returning;
}

void end_thread(void *argument) {
    auto *heap = static_cast<ThreadHeap *>(argument);
    own_heap = nullptr;
    take_returned(heap);
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
    for (tc::Lock &stripe : stripes)
        stripe.acquire();
    tables_lock.acquire();
    units_lock.acquire();
}
void unlock_all() {
    units_lock.release();
    tables_lock.release();
    for (tc::Lock &stripe : stripes)
        stripe.release();
    heaps_lock.release();
}
void after_fork_in_child() {
    unlock_all();
    forked_heap = own_heap;
    own_heap = nullptr;
    stats_restart_in_child();
}

} // namespace

void (*first_use_in_child)();

ThreadHeap *first_site_heap() { return heaps.load(std::memory_order_acquire); }

ThreadHeap *thread_site_heap() {
    if (own_heap) [[likely]]
        return own_heap;
    if (ThreadHeap *heap = forked_heap) {
        forked_heap = nullptr;
        own_heap = heap;
        if (first_use_in_child)
            first_use_in_child();
        return heap;
    }
    ThreadHeap *heap = make_heap();
    own_heap = heap;
    if (heap) { // after own_heap is set: these may allocate
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
    Bin *bin = cache->bins;
    if (bin && bin->size_class == size_class) [[likely]]
        return bin;
    for (Bin **link = &cache->bins; (bin = *link); link = &bin->next)
        if (bin->size_class == size_class) {
            *link = bin->next;
            break;
        }
    if (!bin) {
        bin = static_cast<Bin *>(arena_take(heap, sizeof(Bin)));
        if (!bin)
            return nullptr;
        bin->site = cache->site;
        bin->size_class = uint8_t(size_class);
        bin->earned = size_class >= first_medium_class;
    }
    bin->next = cache->bins;
    cache->bins = bin;
    return bin;
}

Slot bin_take(ThreadHeap *heap, Bin *bin) {
    for (;;) {
        if (Span *span = bin->current) {
            if (unsigned head = span->free_head) {
                unsigned index = head - 1;
                span->free_head =
                    load_link(&span->tables.load(std::memory_order_relaxed)->links()[index]);
                ++span->used;
                return {span, index, false};
            }
            unsigned index = span->carved.load(std::memory_order_relaxed);
            if (index < slots_of_class(bin->size_class)) {
                span->carved.store(uint16_t(index + 1), std::memory_order_relaxed);
                ++span->used;
                return {span, index, true};
            }
            if (retire_current(bin))
                continue;
        }
        take_returned(heap);
        if (Span *span = bin->partial) {
            list_remove(bin->partial, span);
            make_current(bin, span);
            drain(span);
            continue;
        }
        if (reopen_full(bin) || adopt(heap, bin))
            continue;
        Span *span = span_make(bin->site, bin->size_class);
        if (!span)
            return {nullptr, 0, false};
        span->bin = bin;
        span->owner.store(heap, std::memory_order_relaxed);
        make_current(bin, span);
    }
}

void slot_give(ThreadHeap *heap, Span *span, unsigned index) {
    uint16_t *link = &span->tables.load(std::memory_order_relaxed)->links()[index];
    if (span->owner.load(std::memory_order_relaxed) == heap) {
        store_link(link, span->free_head);
        span->free_head = uint16_t(index + 1);
        --span->used;
        if (span->state == SpanState::full) {
            // No other thread can see the count at its end: this slot was not in it.
            absorb(span, span->remote.exchange(0, std::memory_order_acq_rel));
            list_remove(span->bin->full, span);
            span->state = SpanState::partial;
            list_append(span->bin->partial, span);
        }
        if (span->used == 0) {
            if (span->state == SpanState::current) {
                rest(heap, span->bin);
            } else {
                list_remove(span->bin->partial, span);
                span_release(span);
            }
        }
        return;
    }
    uint32_t site = span->site.load(std::memory_order_relaxed);
    unsigned size_class = span->size_class;
    uint64_t word = span->remote.load(std::memory_order_relaxed), next;
    do {
        store_link(link, remote_head(word));
        next = (word & ~uint64_t(0xffff)) + remote_one + (index + 1);
    } while (!span->remote.compare_exchange_weak(word, next, std::memory_order_acq_rel));
    if (next & remote_abandoned) {
        if (remote_count(next) == remote_frozen(next))
            release_abandoned(span, site, size_class);
    } else if (next & remote_full && remote_count(next) == slots_of_class(size_class)) {
        ThreadHeap *owner = span->owner.load(std::memory_order_relaxed);
        Span *head = owner->returned.load(std::memory_order_relaxed);
        do
            span->next_returned = head;
        while (!owner->returned.compare_exchange_weak(head, span, std::memory_order_acq_rel));
    }
}

void site_heap_at_fork() { pthread_atfork(lock_all, unlock_all, after_fork_in_child); }
