// Bins: how a thread's slots are handed out and come back, from other threads and after its end.
// See site_heap_thread.h.
#include "site_heap_thread.h"

namespace {

constexpr unsigned full_looks = 4; // full spans to look at before a new one is made

// Spans whose thread ended, by site and class; any thread may adopt one for the same site.
constexpr unsigned bucket_count = 4096, stripe_count = 64;
std::atomic<Span *> abandoned[bucket_count];
tc::Lock stripes[stripe_count];

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

} // namespace

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

void lock_abandoned() {
    for (tc::Lock &stripe : stripes)
        stripe.acquire();
}
void unlock_abandoned() {
    for (tc::Lock &stripe : stripes)
        stripe.release();
}
