// See site_heap_range.h.  A bitmap of free units, searched first-fit from the lowest address, keeps
// the range compact and coalesces by itself.
#include "site_heap_range.h"
#include "own_memory.h"
#include "site_heap_span.h"
#include <cstring>
#include <sys/mman.h>
#include <sys/resource.h>

SiteHeapRange site_heap_range;
tc::Lock units_lock;
void (*units_owned)(size_t, size_t, uint32_t);

namespace {

constexpr size_t wanted_bytes = size_t(1) << 42;
constexpr size_t least_bytes = size_t(1) << 27;
constexpr size_t range_align = size_t(1) << 21;
// The range is opened in steps: memory that nobody asked for must count neither as committed
// (vm.overcommit_memory=2) nor as lockable (mlockall).
constexpr size_t open_step = (size_t(1) << 26) / unit_bytes;

uint64_t *free_units; // one bit per unit below `top`
size_t unit_count;
size_t opened;           // units with access
std::atomic<size_t> top; // first unit that was never taken
std::atomic<size_t> in_use;
size_t lowest_free; // no free unit below

bool is_free(size_t unit) { return free_units[unit / 64] >> (unit % 64) & 1; }
void mark_taken(size_t first, size_t count) {
    for (size_t unit = first; unit < first + count; ++unit)
        free_units[unit / 64] &= ~(uint64_t(1) << (unit % 64));
}

// The first free unit at or after `unit`, or `top`.
size_t next_free(size_t unit, size_t end) {
    while (unit < end) {
        uint64_t word = free_units[unit / 64] >> (unit % 64);
        if (word) {
            unit += __builtin_ctzll(word);
            return unit < end ? unit : end;
        }
        unit = (unit / 64 + 1) * 64;
    }
    return end;
}

// Alignment is of the address, and the range itself starts at no more than range_align.
size_t aligned(size_t unit, size_t align) {
    size_t base = site_heap_range.base >> site_heap_unit_shift;
    return (base + unit + align - 1) / align * align - base;
}

// Where a run can start: among the freed units, or at the top, where the rest is free.
size_t find_run(size_t count, size_t align) {
    size_t end = top.load(std::memory_order_relaxed);
    size_t start = next_free(lowest_free, end);
    lowest_free = start;
    while (start < end) {
        size_t first = aligned(start, align);
        size_t unit = start;
        while (unit < end && unit < first + count && is_free(unit))
            ++unit;
        if (unit >= first + count || unit == end)
            return first;
        start = next_free(unit, end);
    }
    return aligned(end, align);
}

bool open_up_to(size_t end) {
    if (end <= opened)
        return true;
    if (end > unit_count)
        return false;
    size_t target = end + open_step < unit_count ? end + open_step : unit_count;
    if (mprotect(unit_address(opened), (target - opened) * unit_bytes, PROT_READ | PROT_WRITE)) {
        target = end; // near a limit: only what is needed
        if (mprotect(unit_address(opened), (target - opened) * unit_bytes, PROT_READ | PROT_WRITE))
            return false;
    }
    opened = target;
    return true;
}

bool take_run(size_t first, size_t count) {
    size_t end = first + count, old_top = top.load(std::memory_order_relaxed);
    if (end < first || !open_up_to(end))
        return false;
    if (end > old_top) {
        for (size_t unit = old_top; unit < first; ++unit) // skipped for alignment
            free_units[unit / 64] |= uint64_t(1) << (unit % 64);
        top.store(end, std::memory_order_relaxed);
    }
    mark_taken(first, (end < old_top ? end : old_top) > first
                          ? (end < old_top ? end : old_top) - first
                          : 0);
    in_use.fetch_add(count, std::memory_order_relaxed);
    return true;
}

size_t first_try() {
    rlimit limit;
    size_t bytes = wanted_bytes;
    if (getrlimit(RLIMIT_AS, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY)
        while (bytes > limit.rlim_cur / 2 && bytes > least_bytes)
            bytes /= 2;
    return bytes;
}

} // namespace

bool units_reserve() {
    for (size_t bytes = first_try(); bytes >= least_bytes; bytes /= 2) {
        void *at = mmap(nullptr, bytes + range_align, PROT_NONE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        if (at == MAP_FAILED)
            continue;
        unit_count = bytes / unit_bytes;
        free_units = static_cast<uint64_t *>(own_memory_map(unit_count / 8));
        site_heap_range.owners = static_cast<uint32_t *>(own_memory_map(unit_count * 4));
        if (!free_units || !site_heap_range.owners || !spans_reserve(unit_count)) {
            munmap(at, bytes + range_align);
            continue;
        }
        uintptr_t base = reinterpret_cast<uintptr_t>(at);
        base = (base + range_align - 1) & ~(range_align - 1);
        // A huge page would hold many sites.
        madvise(reinterpret_cast<void *>(base), bytes, MADV_NOHUGEPAGE);
        site_heap_range.base = base;
        site_heap_range.bytes = bytes;
        return true;
    }
    return false;
}

size_t units_take(size_t count, size_t align) {
    tc::Guard guard(units_lock);
    size_t first = find_run(count, align);
    return take_run(first, count) ? first : no_unit;
}

void units_give(size_t first, size_t count) {
    // The kernel keeps locked pages; what is taken again must read as zero all the same.
    if (madvise(unit_address(first), count * unit_bytes, MADV_DONTNEED) != 0)
        memset(unit_address(first), 0, count * unit_bytes);
    else if (pages_returned)
        pages_returned(unit_address(first), count * unit_bytes);
    // Its site's until it is gone: what a sample meets in between is nobody's else.
    set_unit_owners(first, count, 0);
    tc::Guard guard(units_lock);
    for (size_t unit = first; unit < first + count; ++unit)
        free_units[unit / 64] |= uint64_t(1) << (unit % 64);
    if (first < lowest_free)
        lowest_free = first;
    in_use.fetch_sub(count, std::memory_order_relaxed);
}

bool units_extend(size_t behind, size_t count) {
    tc::Guard guard(units_lock);
    size_t end = top.load(std::memory_order_relaxed);
    for (size_t unit = behind; unit < behind + count && unit < end; ++unit)
        if (!is_free(unit))
            return false;
    return take_run(behind, count);
}

size_t units_top() { return top.load(std::memory_order_relaxed); }
size_t units_in_use() { return in_use.load(std::memory_order_relaxed); }
