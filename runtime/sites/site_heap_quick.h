// The short way to a small block and back, for inlining into malloc and free: no call, no lock,
// no system call.  Whatever is seldom (a span's end, a site's first block, counts to be flushed) is
// left to the functions of site_heap.h, which also do all of this, to the same effect.
#pragma once
#include "site_heap_thread.h"

constexpr unsigned last_quick_class = class_of(largest_byte_slack_slot);

// What a slot of a quick class has left over, tagged ones included, fits a byte.
constexpr bool quick_slack_fits() {
    for (size_t size = 0; size <= largest_byte_slack_slot; ++size)
        if (slot_bytes(tagged_class_for(size, 0)) - size > 0xff)
            return false;
    return true;
}
static_assert(quick_slack_fits());

// A block of at least 16 bytes' alignment, or null.  `fresh`: it reads as zero.
[[gnu::always_inline]] inline void *site_heap_quick_malloc(uint32_t site, size_t size,
                                                           bool &fresh) {
    ThreadHeap *heap = own_site_heap;
    const uint64_t clock = block_clock.load(std::memory_order_relaxed);
    if (!heap || !clock || size > largest_byte_slack_slot)
        return nullptr;
    const uint32_t key = bin_key(site, class_of(size));
    Bin *bin = heap->recent_bin(key);
    if (!bin || bin->key != key) [[unlikely]]
        return nullptr;
    Bin *from = bin->from;
    Span *span = from->current;
    SiteCounters &counters = bin->cache->counters;
    if (!span || !counters.takes_allocated(size)) [[unlikely]]
        return nullptr;
    uint16_t *links = span->links;
    const uint16_t carved = span->carved.load(std::memory_order_relaxed);
    const unsigned head = span->free_head;
    const unsigned slot = head ? head - 1 : carved;
    if (slot >= span->slots) [[unlikely]]
        return nullptr;
    const uint32_t room = span->slot_bytes;
    if (from != bin) {
        const int32_t bytes = bin->tagged_bytes + int32_t(room);
        const int32_t waste = bin->tagged_waste + int32_t(room) - int32_t(bin->slot_bytes);
        uint32_t *tag = &span->tables.load(std::memory_order_relaxed)->tags()[slot];
        const bool retagged = __atomic_load_n(tag, __ATOMIC_RELAXED) != site;
        if (bytes >= earned_at_bytes || waste >= earned_at_waste || (retagged && owner_changed))
            [[unlikely]]
            return nullptr;
        bin->tagged_bytes = bytes;
        bin->tagged_waste = waste;
        __atomic_store_n(tag, site, __ATOMIC_RELAXED);
        counters.tagged_bytes.add(room);
    }
    if (head)
        span->free_head = load_link(&links[slot]);
    else
        span->carved.store(uint16_t(carved + 1), std::memory_order_relaxed);
    fresh = !head;
    ++span->used;
    store_link(&links[slot], clock_link(clock));
    reinterpret_cast<uint8_t *>(links + span->slots)[slot] = uint8_t(room - size);
    counters.allocated(size, clock_time(clock));
    return reinterpret_cast<void *>(span->start + slot * room);
}

// Frees a block of the profiling heap, or returns false and has done nothing.
[[gnu::always_inline]] inline bool site_heap_quick_free(void *block) {
    const uintptr_t offset = reinterpret_cast<uintptr_t>(block) - site_heap_range.base;
    ThreadHeap *heap = own_site_heap;
    const uint64_t clock = block_clock.load(std::memory_order_relaxed);
    Span *span = &all_spans[offset >> site_heap_unit_shift];
    if (!heap || !clock || span->owner.load(std::memory_order_relaxed) != heap ||
        span->size_class > last_quick_class) [[unlikely]]
        return false;
    const size_t in_span = offset & (unit_bytes - 1);
    const unsigned slot = slot_index(in_span, span->size_class);
    const uint32_t room = span->slot_bytes;
    if (slot * room != in_span || slot >= span->carved.load(std::memory_order_relaxed)) [[unlikely]]
        return false;
    uint16_t *link = &span->links[slot];
    const uint16_t birth = load_link(link);
    const size_t size = room - reinterpret_cast<uint8_t *>(span->links + span->slots)[slot];
    Bin *bin = span->bin;
    const bool tagged = span->site.load(std::memory_order_relaxed) == 0;
    if (!(birth & link_live) || span->state == SpanState::full ||
        (span->used == 1 && !(span->state == SpanState::current && bin->resting))) [[unlikely]]
        return false;
    if (tagged) {
        const uint32_t tag = __atomic_load_n(
            &span->tables.load(std::memory_order_relaxed)->tags()[slot], __ATOMIC_RELAXED);
        const uint32_t key = bin_key(tag, class_of(size));
        bin = heap->recent_bin(key);
        if (!bin || bin->key != key) [[unlikely]]
            return false;
    }
    SiteCounters &counters = bin->cache->counters;
    if (!counters.takes_freed(size)) [[unlikely]]
        return false;
    if (tagged) {
        counters.tagged_bytes.add(-int64_t(room));
        bin->tagged_bytes -= int32_t(room);
        bin->tagged_waste -= int32_t(room) - int32_t(bin->slot_bytes);
    }
    counters.freed(size, clock_time(clock), birth, clock_link(clock));
    store_link(link, span->free_head);
    span->free_head = uint16_t(slot + 1);
    --span->used;
    return true;
}
