// The profiling heap's entry points.  See site_heap.h.
#include "site_heap.h"
#include "site_heap_quick.h"
#include "site_heap_thread.h"
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <unistd.h>

int32_t earned_at_bytes = 256 << 10;
int32_t earned_at_waste = 16 << 10;

namespace {

constexpr size_t largest_slot_align = 4096;

[[noreturn]] void invalid(const char *message) {
    // Not stdio: it may be what called us.
    if (write(2, message, strlen(message)) < 0) {
    }
    abort();
}

// Slack that does not fit its table's entry is counted as if it had been asked for.
size_t most_slack(const SpanTables *tables) { return tables->wide_slack ? 0xffff : 0xff; }
size_t load_slack(SpanTables *tables, unsigned slot) {
    return tables->wide_slack ? tables->slack16()[slot] : tables->slack8()[slot];
}
size_t store_slack(SpanTables *tables, unsigned slot, size_t slack) {
    if (slack > most_slack(tables))
        slack = most_slack(tables);
    if (tables->wide_slack)
        tables->slack16()[slot] = uint16_t(slack);
    else
        tables->slack8()[slot] = uint8_t(slack);
    return slack;
}

void count_allocated(SiteCache *cache, size_t bytes, uint64_t now) {
    if (cache->counters.allocations.get() == 0) {
        uint64_t none = 0, first = stats_now();
        cache->counters.totals->first_time.compare_exchange_strong(none, first ? first : 1,
                                                                   std::memory_order_relaxed);
    }
    cache->counters.allocated(bytes, now);
}

void *large_malloc(ThreadHeap *heap, SiteCache *cache, size_t size, size_t align, bool zero) {
    if (size > PTRDIFF_MAX || align > site_heap_range.bytes)
        return nullptr;
    size_t units = size ? (size + unit_bytes - 1) / unit_bytes : 1;
    size_t align_units = align > unit_bytes ? align / unit_bytes : 1;
    Span *span = unpark_large(heap, cache->site, units, align_units);
    if (span && zero)
        memset(unit_address(span_unit(span)), 0, size);
    if (!span)
        span = span_make_large(cache->site, units, align_units);
    if (!span)
        return nullptr;
    uint64_t clock = clock_now();
    span->large_bytes = size;
    span->large_link.store(clock_link(clock), std::memory_order_relaxed);
    count_allocated(cache, size, clock_time(clock));
    return unit_address(span_unit(span));
}

// Where a block is, with its checks.
struct Place {
    Span *span;
    SpanTables *tables; // null: large
    unsigned slot;
    uint32_t site;
};

Place place_of(const void *block) {
    size_t offset = reinterpret_cast<uintptr_t>(block) - site_heap_range.base;
    size_t unit = offset >> site_heap_unit_shift;
    uint32_t owner = unit_owner(unit);
    if (owner == 0)
        invalid("thermocline: the program frees a block that it does not hold; look for a double "
                "free\n");
    Span *span = span_of(unit, owner);
    size_t in_span = offset - (span_unit(span) << site_heap_unit_shift);
    SpanTables *tables = span->tables.load(std::memory_order_relaxed);
    if (!tables) {
        if (in_span)
            invalid("thermocline: the program frees a pointer into the middle of a block\n");
        if (!(span->large_link.load(std::memory_order_relaxed) & link_live))
            invalid("thermocline: the program frees a block that it does not hold; look for a "
                    "double free\n");
        return {span, nullptr, 0, owner & site_heap_site_mask};
    }
    unsigned slot = slot_index(in_span, tables->size_class);
    if (slot >= tables->slots || slot * size_t(slot_bytes(tables->size_class)) != in_span)
        invalid("thermocline: the program frees a pointer into the middle of a block\n");
    if (!(load_link(&tables->links()[slot]) & link_live))
        invalid("thermocline: the program frees a block that it does not hold; look for a double "
                "free\n");
    uint32_t site = tables->tagged ? __atomic_load_n(&tables->tags()[slot], __ATOMIC_RELAXED)
                                   : owner & site_heap_site_mask;
    return {span, tables, slot, site};
}

size_t block_bytes(const Place &place) { // as asked for
    return place.tables
               ? slot_bytes(place.tables->size_class) - load_slack(place.tables, place.slot)
               : place.span->large_bytes;
}
size_t block_room(const Place &place) {
    return place.tables ? slot_bytes(place.tables->size_class)
                        : place.span->large_units.load(std::memory_order_relaxed) * unit_bytes;
}
// Few and dear enough for an exact time of their own: large ones.
uint64_t block_clock_of(const Place &place) {
    return place.tables ? small_block_clock() : clock_now();
}
void count_freed(SiteCache *cache, const Place &place, uint64_t clock) {
    uint16_t birth = place.tables ? load_link(&place.tables->links()[place.slot])
                                  : place.span->large_link.load(std::memory_order_relaxed);
    cache->counters.freed(block_bytes(place), clock_time(clock), birth, clock_link(clock));
}

// The same block from now on holds `size` bytes: counted as freed and allocated.
void restart_block(SiteCache *cache, const Place &place, size_t size) {
    uint64_t clock = block_clock_of(place);
    count_freed(cache, place, clock);
    if (place.tables) {
        size_t room = block_room(place);
        size = room - store_slack(place.tables, place.slot, room - size);
        store_link(&place.tables->links()[place.slot], clock_link(clock));
    } else {
        place.span->large_bytes = size;
        place.span->large_link.store(clock_link(clock), std::memory_order_relaxed);
    }
    count_allocated(cache, size, clock_time(clock));
}

// A large block that shrinks gives units back, and one that grows takes those behind it if it can.
bool resize_large(Span *span, size_t size) {
    if (size <= largest_slot || size > PTRDIFF_MAX)
        return false;
    size_t first = span_unit(span), units = (size + unit_bytes - 1) / unit_bytes;
    size_t old_units = span->large_units.load(std::memory_order_relaxed);
    if (units > old_units) {
        if (!units_extend(first + old_units, units - old_units))
            return false;
        set_unit_owners(first + old_units, units - old_units,
                        span->site.load(std::memory_order_relaxed));
    } else if (units < old_units) {
        int saved_errno = errno;
        if (before_release)
            before_release(span->site.load(std::memory_order_relaxed) & site_heap_site_mask, first,
                           old_units);
        if (owner_changed)
            owner_changed(unit_address(first + units), (old_units - units) * unit_bytes);
        units_give(first + units, old_units - units);
        errno = saved_errno;
    }
    span->large_units.store(units, std::memory_order_relaxed);
    return true;
}

uint32_t numbered(uint32_t site) { return site < site_limit ? site : 0; }

} // namespace

bool site_heap_reserve() {
    if (site_heap_range.bytes)
        return true;
    if (!units_reserve())
        return false;
    stats_start();
    site_heap_at_fork();
    return true;
}

[[gnu::always_inline]] void *site_heap_try_malloc(uint32_t site, size_t size, bool zero) noexcept {
    bool fresh = false;
    void *block = site_heap_quick_malloc(site, size, fresh);
    return block && zero && !fresh ? memset(block, 0, size) : block;
}

[[gnu::always_inline]] bool site_heap_try_free(void *block) noexcept {
    return site_heap_quick_free(block);
}

void *site_heap_malloc(uint32_t site, size_t size, size_t align, bool zero) {
    if (align <= 16)
        if (void *block = site_heap_try_malloc(site, size, zero))
            return block;
    site = numbered(site);
    ThreadHeap *heap = thread_site_heap();
    SiteCache *cache = heap ? site_cache(heap, site) : nullptr;
    if (!cache)
        return nullptr;
    if (size > largest_slot || align > largest_slot_align)
        return large_malloc(heap, cache, size, align, zero);
    unsigned size_class = class_for(size, align);
    Bin *bin = site_bin(heap, cache, size_class);
    if (!bin)
        return nullptr;
    unsigned tagged_class = tagged_class_for(size, align);
    bool tagged = !bin->earned() && tagged_class < first_medium_class;
    Slot slot = bin_take(heap, tagged ? &heap->tagged[tagged_class] : bin);
    if (!slot.span)
        return nullptr;
    SpanTables *tables = slot.span->tables.load(std::memory_order_relaxed);
    size_t room = slot_bytes(tables->size_class);
    char *block = static_cast<char *>(unit_address(span_unit(slot.span))) + slot.index * room;
    if (tagged) {
        uint32_t *tag = &tables->tags()[slot.index];
        if (owner_changed && __atomic_load_n(tag, __ATOMIC_RELAXED) != site)
            owner_changed(block, room);
        __atomic_store_n(tag, site, __ATOMIC_RELAXED);
        cache->counters.tagged_bytes.add(int64_t(room));
        bin->tagged_bytes += int32_t(room);
        bin->tagged_waste += int32_t(room - slot_bytes(size_class));
        if (bin->tagged_bytes >= earned_at_bytes || bin->tagged_waste >= earned_at_waste)
            bin->from = bin;
    }
    uint64_t clock = small_block_clock();
    store_link(&tables->links()[slot.index], clock_link(clock));
    size_t counted = room - store_slack(tables, slot.index, room - size);
    count_allocated(cache, counted, clock_time(clock));
    if (zero && !slot.fresh)
        memset(block, 0, size);
    return block;
}

void site_heap_free(void *block) {
    if (site_heap_quick_free(block))
        return;
    Place place = place_of(block);
    ThreadHeap *heap = thread_site_heap();
    SiteCache *cache = heap ? site_cache(heap, place.site) : nullptr;
    if (!cache)
        return; // out of memory: the block is lost
    size_t bytes = block_bytes(place);
    count_freed(cache, place, block_clock_of(place));
    if (!place.tables) {
        park_large(heap, place.span);
        return;
    }
    if (place.tables->tagged) {
        int32_t room = int32_t(slot_bytes(place.tables->size_class));
        cache->counters.tagged_bytes.add(-int64_t(room));
        unsigned size_class = class_of(bytes);
        for (Bin *bin = cache->bins; bin; bin = bin->next)
            if (bin->size_class == size_class) {
                bin->tagged_bytes -= room;
                bin->tagged_waste -= room - int32_t(slot_bytes(size_class));
                break;
            }
    }
    slot_give(heap, place.span, place.slot);
}

void *site_heap_realloc(uint32_t site, void *block, size_t size) {
    Place place = place_of(block);
    site = numbered(site);
    if (place.site == site) {
        size_t room = block_room(place);
        bool fits = place.tables ? size <= room && (size >= room / 2 || size >= block_bytes(place))
                                 : resize_large(place.span, size);
        if (fits) {
            ThreadHeap *heap = thread_site_heap();
            SiteCache *cache = heap ? site_cache(heap, site) : nullptr;
            if (!cache)
                return nullptr;
            restart_block(cache, place, size);
            return block;
        }
    }
    void *moved = site_heap_malloc(site, size, 0, false);
    if (!moved)
        return nullptr;
    // What the program asked for is less than it may use (malloc_usable_size).
    size_t old_room = block_room(place);
    memcpy(moved, block, size < old_room ? size : old_room);
    site_heap_free(block);
    return moved;
}

size_t site_heap_usable(const void *block) { return block_room(place_of(block)); }
