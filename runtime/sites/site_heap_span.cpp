// See site_heap_span.h.
#include "site_heap_span.h"
#include "own_memory.h"
#include <cerrno>

Span *all_spans;
tc::Lock tables_lock;
void (*before_release)(uint32_t, size_t, size_t);
void (*owner_changed)(const void *, uint64_t);
void (*pages_returned)(const void *, uint64_t);

namespace {

constexpr size_t tables_chunk = 256 << 10;

SpanTables *unused_tables[2][class_count];
char *chunk, *chunk_end;

size_t tables_bytes(unsigned size_class, bool tagged) {
    size_t slots = slots_of_class(size_class);
    size_t slack = slot_bytes(size_class) > largest_byte_slack_slot ? 2 : 1;
    size_t bytes = sizeof(SpanTables) + slots * ((tagged ? 4 : 0) + 2 + slack);
    return (bytes + 63) & ~size_t(63);
}

SpanTables *take_tables(unsigned size_class, bool tagged) {
    tc::Guard guard(tables_lock);
    SpanTables *&unused = unused_tables[tagged][size_class];
    if (SpanTables *tables = unused) {
        unused = tables->next_unused;
        return tables;
    }
    size_t bytes = tables_bytes(size_class, tagged);
    if (bytes > size_t(chunk_end - chunk)) {
        char *fresh = static_cast<char *>(own_memory_map(tables_chunk));
        if (!fresh)
            return nullptr;
        if (fresh != chunk_end) // else the chunks touch: nothing is lost
            chunk = fresh;
        chunk_end = fresh + tables_chunk;
    }
    auto *tables = reinterpret_cast<SpanTables *>(chunk);
    chunk += bytes;
    tables->slots = slots_of_class(size_class);
    tables->tagged = tagged;
    tables->wide_slack = slot_bytes(size_class) > largest_byte_slack_slot;
    tables->size_class = uint8_t(size_class);
    return tables;
}

void give_tables(SpanTables *tables) {
    tc::Guard guard(tables_lock);
    SpanTables *&unused = unused_tables[tables->tagged][tables->size_class];
    tables->next_unused = unused;
    unused = tables;
}

} // namespace

bool spans_reserve(size_t unit_count) {
    all_spans = static_cast<Span *>(own_memory_map(unit_count * sizeof(Span)));
    return all_spans != nullptr;
}

Span *span_make(uint32_t site, unsigned size_class) {
    SpanTables *tables = take_tables(size_class, site == 0);
    if (!tables)
        return nullptr;
    size_t units = units_of_class(size_class);
    size_t first = units_take(units, units);
    if (first == no_unit) {
        give_tables(tables);
        return nullptr;
    }
    Span *span = &all_spans[first];
    span->remote.store(0, std::memory_order_relaxed);
    span->carved.store(0, std::memory_order_relaxed);
    span->tables.store(tables, std::memory_order_release);
    span->site.store(site, std::memory_order_relaxed);
    span->next = span->prev = span->next_returned = nullptr;
    span->start = reinterpret_cast<uintptr_t>(unit_address(first));
    span->links = tables->links();
    span->slot_bytes = slot_bytes(size_class);
    span->slots = uint16_t(tables->slots);
    span->free_head = span->used = 0;
    span->size_class = uint8_t(size_class);
    set_unit_owners(first, units,
                    (site ? site : site_heap_tagged) | (units > 1 ? site_heap_medium : 0));
    return span;
}

Span *span_make_large(uint32_t site, size_t units, size_t align_units) {
    size_t first = units_take(units, align_units);
    if (first == no_unit)
        return nullptr;
    Span *span = &all_spans[first];
    span->remote.store(0, std::memory_order_relaxed);
    span->owner.store(nullptr, std::memory_order_relaxed);
    span->tables.store(nullptr, std::memory_order_relaxed);
    span->site.store(site, std::memory_order_relaxed);
    span->state = SpanState::large;
    span->large_units.store(units, std::memory_order_relaxed);
    set_unit_owners(first, units, site);
    return span;
}

void span_release(Span *span) {
    int saved_errno = errno; // free() keeps it
    size_t first = span_unit(span);
    bool large = span->state == SpanState::large;
    size_t units = large ? span->large_units.load(std::memory_order_relaxed)
                         : units_of_class(span->size_class);
    if (before_release)
        before_release(span->site.load(std::memory_order_relaxed) & site_heap_site_mask, first,
                       units);
    if (owner_changed)
        owner_changed(unit_address(first), units * unit_bytes);
    SpanTables *tables = span->tables.load(std::memory_order_relaxed);
    span->state = SpanState::none;
    span->owner.store(nullptr, std::memory_order_relaxed);
    span->carved.store(0, std::memory_order_relaxed);
    units_give(first, units);
    if (tables)
        give_tables(tables);
    errno = saved_errno;
}

uint32_t site_heap_tag_of(uintptr_t offset) {
    // Tagged spans are one unit long.
    Span *span = &all_spans[offset >> site_heap_unit_shift];
    SpanTables *tables = span->tables.load(std::memory_order_acquire);
    if (!tables || !tables->tagged)
        return 0;
    unsigned slot = slot_index(offset & (unit_bytes - 1), tables->size_class);
    if (slot >= tables->slots)
        return 0;
    return __atomic_load_n(&tables->tags()[slot], __ATOMIC_RELAXED);
}
