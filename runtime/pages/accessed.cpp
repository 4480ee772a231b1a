// See accessed.h.
#include "accessed.h"
#include "own_memory.h"
#include "site_heap_range.h"
#include "smaps.h"
#include <cerrno>
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

namespace tc::pages {
namespace {

// Pieces of one site from here on get a mapping of their own: 1 MiB, and more where there are many,
// since a process may have some 65,000 mappings.
constexpr size_t least_units = 16;
constexpr unsigned most_pieces = 8000;
size_t own_units = least_units;

// Of each unit, the advice that was given.
enum Advice : uint8_t { normal, random };
uint8_t *advice;

struct Piece {
    size_t first, end;
};

// From `unit` to where the owner changes; what is smaller than a piece goes together.
Piece piece_at(size_t unit, size_t top) {
    const auto run_end = [top](size_t from) {
        constexpr uint32_t what = site_heap_site_mask | site_heap_tagged;
        const uint32_t owner = unit_owner(from) & what;
        size_t end = from + 1;
        while (end < top && (unit_owner(end) & what) == owner)
            ++end;
        return end;
    };
    const auto stands_alone = [](size_t first, size_t end) {
        return end - first >= own_units && !(unit_owner(first) & site_heap_tagged);
    };
    size_t end = run_end(unit);
    if (stands_alone(unit, end))
        return {unit, end};
    while (end < top) {
        const size_t next = run_end(end);
        if (stands_alone(end, next))
            break;
        end = next;
    }
    return {unit, end};
}

void advise(const Piece &piece, Advice wanted) {
    bool differs = false;
    for (size_t unit = piece.first; unit < piece.end; ++unit)
        differs |= advice[unit] != wanted;
    if (!differs || madvise(unit_address(piece.first), (piece.end - piece.first) * unit_bytes,
                            wanted == random ? MADV_RANDOM : MADV_NORMAL) != 0)
        return;
    for (size_t unit = piece.first; unit < piece.end; ++unit)
        advice[unit] = wanted;
}

void split() {
    const size_t top = units_top();
    unsigned pieces = 0;
    int before = -1;
    for (size_t unit = 0; unit < top; ++pieces) {
        const Piece piece = piece_at(unit, top);
        auto wanted = Advice(advice[unit]);
        if (wanted == before)
            wanted = wanted == random ? normal : random;
        advise(piece, wanted);
        before = wanted;
        unit = piece.end;
    }
    if (pieces > most_pieces)
        own_units *= 2;
}

struct Wanted {
    AccessedMapping each;
    void *context;
};

void add(void *context, const SmapsMapping &mapping) {
    const auto *wanted = static_cast<const Wanted *>(context);
    const uintptr_t low = site_heap_range.base, high = low + units_top() * unit_bytes;
    const uintptr_t from = mapping.from > low ? mapping.from : low;
    const uintptr_t to = mapping.to < high ? mapping.to : high;
    if (from < to && mapping.referenced)
        wanted->each(wanted->context, from, to, mapping.referenced);
}

} // namespace

bool accessed_start() {
    advice = static_cast<uint8_t *>(own_memory_map(site_heap_range.bytes >> site_heap_unit_shift));
    return advice != nullptr;
}

bool accessed_begin() {
    split();
    const int file = open("/proc/self/clear_refs", O_WRONLY | O_CLOEXEC);
    const bool cleared = file >= 0 && write(file, "2", 1) == 1; // of anonymous memory
    if (file >= 0)
        close(file);
    return cleared;
}

bool accessed_read(AccessedMapping each, void *context) {
    const int file = open("/proc/self/smaps", O_RDONLY | O_CLOEXEC);
    if (file < 0)
        return false;
    Wanted wanted{each, context};
    SmapsReader reader(add, &wanted);
    char text[8192];
    for (ssize_t got; (got = read(file, text, sizeof text)) > 0;)
        reader.take(text, size_t(got));
    close(file);
    return true;
}

} // namespace tc::pages
