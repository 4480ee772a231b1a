// See page_scan.h.
#include "page_scan.h"
#include "pagemap_scan.h"
#include <cerrno>
#include <sys/mman.h>
#include <unistd.h>

namespace {

constexpr uintptr_t page = 4096;

bool by_scan(int pagemap, uintptr_t from, uintptr_t to, ResidentRun run, void *context) {
    constexpr unsigned wanted = 256;
    PageRegion regions[wanted];
    PmScanArg arg{};
    arg.size = sizeof arg;
    arg.end = to;
    arg.vec = reinterpret_cast<uintptr_t>(regions);
    arg.vec_len = wanted;
    arg.category_mask = page_is_present | page_is_zero;
    arg.category_inverted = page_is_zero;
    arg.return_mask = page_is_present;
    while (from < to) {
        arg.start = from;
        int found = ioctl(pagemap, pagemap_scan, &arg);
        if (found < 0)
            return false;
        for (int i = 0; i < found; ++i)
            run(context, regions[i].start, regions[i].end);
        // walk_end can be stale after many regions, so it is not used: fewer than asked is the end.
        if (unsigned(found) < wanted)
            return true;
        from = regions[found - 1].end;
    }
    return true;
}

bool by_reading(int pagemap, uintptr_t from, uintptr_t to, ResidentRun run, void *context) {
    constexpr uint64_t present = uint64_t(1) << 63;
    uint64_t entries[512];
    while (from < to) {
        size_t pages = (to - from) / page;
        size_t count = pages < 512 ? pages : 512;
        ssize_t got = pread(pagemap, entries, count * 8, off_t(from / page * 8));
        if (got <= 0)
            return false;
        size_t entry_count = size_t(got) / 8;
        for (size_t i = 0; i < entry_count;) {
            size_t first = i;
            while (i < entry_count && entries[i] & present)
                ++i;
            if (i > first)
                run(context, from + first * page, from + i * page);
            else
                ++i;
        }
        from += entry_count * page;
    }
    return true;
}

bool by_mincore(uintptr_t from, uintptr_t to, ResidentRun run, void *context) {
    unsigned char pages[4096];
    while (from < to) {
        size_t left = (to - from) / page, count = left < sizeof pages ? left : sizeof pages;
        if (mincore(reinterpret_cast<void *>(from), count * page, pages))
            return false;
        for (size_t i = 0; i < count;) {
            size_t first = i;
            while (i < count && pages[i] & 1)
                ++i;
            if (i > first)
                run(context, from + first * page, from + i * page);
            else
                ++i;
        }
        from += count * page;
    }
    return true;
}

} // namespace

bool scan_resident(int pagemap, uintptr_t from, uintptr_t to, ResidentRun run, void *context) {
    if (from >= to)
        return true;
    int saved_errno = errno;
    // Each of them fails at once or not at all.
    bool done = (pagemap >= 0 && (by_scan(pagemap, from, to, run, context) ||
                                  by_reading(pagemap, from, to, run, context))) ||
                by_mincore(from, to, run, context);
    errno = saved_errno;
    return done;
}

uint64_t resident_bytes(int pagemap, uintptr_t from, uintptr_t to) {
    uint64_t bytes = 0;
    scan_resident(
        pagemap, from, to,
        [](void *sum, uintptr_t low, uintptr_t high) {
            *static_cast<uint64_t *>(sum) += high - low;
        },
        &bytes);
    return bytes;
}
