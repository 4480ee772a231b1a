// See written.h.
#include "written.h"
#include "pagemap_scan.h"
#include "runtime.h"
#include <cerrno>
#include <fcntl.h>
#include <linux/userfaultfd.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace tc::pages {
namespace {

constexpr uintptr_t page = 4096;
// Newer than Debian 12's header.
constexpr uint64_t wp_unpopulated = 1 << 13, wp_async = 1 << 15; // UFFD_FEATURE_*
constexpr int user_mode_only = 1; // of userfaultfd(2): needs no privilege; nobody waits for us here

int tracker = -1;
bool by_soft_dirty;
uint64_t fault_ns;

// Documentation/admin-guide/mm/soft-dirty.rst.
bool scan_soft_dirty(int pagemap, uintptr_t from, uintptr_t to, WrittenRun run, void *context) {
    constexpr uint64_t bit = uint64_t(1) << 55, there = uint64_t(3) << 62; // present or swapped
    uint64_t entries[512];
    while (from < to) {
        const size_t left = (to - from) / page, count = left < 512 ? left : 512;
        const ssize_t got = pread(pagemap, entries, count * 8, off_t(from / page * 8));
        if (got < 8)
            return false;
        const size_t read = size_t(got) / 8;
        for (size_t i = 0, first; i < read; ++i) {
            for (first = i; i < read && entries[i] & bit && entries[i] & there; ++i)
                ;
            if (i > first)
                run(context, from + first * page, from + i * page);
        }
        from += read * page;
    }
    return true;
}

// The least of a few rounds over some pages of our own.
uint64_t measure_fault() {
    constexpr uintptr_t bytes = 64 * page;
    void *at = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (at == MAP_FAILED)
        return 0;
    madvise(at, bytes, MADV_NOHUGEPAGE);
    auto *const data = static_cast<volatile char *>(at);
    const auto from = reinterpret_cast<uintptr_t>(at);
    const int pagemap = open("/proc/self/pagemap", O_RDONLY | O_CLOEXEC);
    uint64_t least = 0, found = 0;
    const auto count = [](void *sum, uintptr_t low, uintptr_t high) {
        *static_cast<uint64_t *>(sum) += high - low;
    };
    for (int round = 0; written_track(from, from + bytes) && round < 4; round++) {
        const uint64_t start = nanoseconds();
        for (uintptr_t i = 0; i < bytes; i += page)
            data[i] = 1;
        const uint64_t each = (nanoseconds() - start) / (bytes / page);
        if (round && (!least || each < least)) // in the first they come to be
            least = each;
        found = 0;
        if (!written_scan(pagemap, from, from + bytes, true, count, &found))
            break;
        if (by_soft_dirty && !written_protect_all())
            break;
    }
    close(pagemap);
    munmap(at, bytes);
    return found == bytes ? least : 0; // it must see what it is for
}

} // namespace

static const char *open_protection() {
    tracker = int(syscall(SYS_userfaultfd, O_CLOEXEC | O_NONBLOCK | user_mode_only));
    if (tracker < 0)
        return errno == ENOSYS ? "the kernel has no userfaultfd" : "userfaultfd is not permitted";
    uffdio_api api{UFFD_API, wp_unpopulated | wp_async, 0};
    if (ioctl(tracker, UFFDIO_API, &api) == 0) {
        fault_ns = measure_fault();
        if (fault_ns)
            return nullptr;
    }
    close(tracker);
    tracker = -1;
    return "the kernel does not track written pages";
}

const char *written_open(bool soft_dirty) {
    by_soft_dirty = false;
    const char *const failure = soft_dirty ? "only soft-dirty bits are wanted" : open_protection();
    if (!failure)
        return nullptr;
    by_soft_dirty = true;
    fault_ns = measure_fault();
    return fault_ns ? nullptr : failure;
}

const char *written_means() {
    return by_soft_dirty ? "soft-dirty bits" : "userfaultfd's write protection and PAGEMAP_SCAN";
}

bool written_by_range() { return !by_soft_dirty; }

bool written_protect_all() {
    const int file = open("/proc/self/clear_refs", O_WRONLY | O_CLOEXEC);
    const bool cleared = file >= 0 && write(file, "4", 1) == 1;
    if (file >= 0)
        close(file);
    return cleared;
}

void written_forget() { tracker = -1; }
uint64_t written_fault_ns() { return fault_ns; }

bool written_track(uintptr_t from, uintptr_t to) {
    if (by_soft_dirty)
        return true;
    uffdio_register range{{from, to - from}, UFFDIO_REGISTER_MODE_WP, 0};
    return ioctl(tracker, UFFDIO_REGISTER, &range) == 0;
}

bool written_scan(int pagemap, uintptr_t from, uintptr_t to, bool protect, WrittenRun run,
                  void *context) {
    if (by_soft_dirty)
        return scan_soft_dirty(pagemap, from, to, run, context);
    constexpr unsigned wanted = 256;
    PageRegion regions[wanted];
    PmScanArg arg{};
    arg.size = sizeof arg;
    arg.flags = protect ? scan_protects : 0;
    arg.end = to;
    arg.vec = reinterpret_cast<uintptr_t>(regions);
    arg.vec_len = wanted;
    arg.category_mask = page_is_written | page_is_present | page_is_zero;
    arg.category_inverted = page_is_zero;
    arg.return_mask = page_is_written;
    while (from < to) {
        arg.start = from;
        const int found = ioctl(pagemap, pagemap_scan, &arg);
        if (found < 0)
            return false;
        for (int i = 0; i < found; ++i)
            run(context, regions[i].start, regions[i].end);
        if (unsigned(found) < wanted) // see page_scan.cpp: walk_end is not to be relied on
            return true;
        from = regions[found - 1].end;
    }
    return true;
}

} // namespace tc::pages
