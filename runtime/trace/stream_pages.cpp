// What a stream says of page sizes: where the kernel has pages of 2 MiB, by PAGEMAP_SCAN
// (Linux 6.7). It is asked after a while, after twice that while, and so on, and at the end: pages
// come and go, and what was large once is told as such.  Compiled without vector registers, like
// recorder.cpp.
#include "sites/pagemap_scan.h"
#include "stream_state.h"
#include "system_call.h"
#include <fcntl.h>
#include <sys/syscall.h>

namespace tc {

namespace {

constexpr uint64_t first_look_ns = 50'000'000, end_of_addresses = uint64_t(1) << 47;
constexpr uint32_t most = 256; // regions of a system call
uint64_t due_ns;
bool hopeless; // the kernel is too old

bool send_large(long pagemap) {
    static PageRegion regions[most]; // under the lock, and too large for a signal's stack
    static tc_raw_pages rows[most];
    PmScanArg arg{};
    arg.size = sizeof arg;
    arg.end = end_of_addresses - TC_RAW_LARGE_PAGE;
    arg.vec = reinterpret_cast<uintptr_t>(regions);
    arg.vec_len = most;
    arg.category_mask = arg.return_mask = page_is_huge;
    for (;;) {
        long found = system_call(SYS_ioctl, pagemap, long(pagemap_scan), word(&arg));
        if (found < 0)
            return false;
        uint32_t count = 0;
        for (long i = 0; i < found; i++) {
            uint64_t bytes = regions[i].end - regions[i].start;
            if (regions[i].start % TC_RAW_LARGE_PAGE == 0 && bytes % TC_RAW_LARGE_PAGE == 0)
                rows[count++] = {regions[i].start, bytes};
        }
        // No rows too: somebody has looked.
        if (!stream_send(TC_RAW_PAGES, rows, uint32_t(count * sizeof *rows), count))
            return false;
        // walk_end can be stale after many regions, so it is not used.
        if (found < long(most))
            return true;
        arg.start = regions[found - 1].end;
    }
}

} // namespace

void stream_pages_start() {
    due_ns = first_look_ns;
    hopeless = false;
}

void stream_pages_look(bool at_end) {
    if (hopeless)
        return;
    uint64_t now = at_end ? 0 : stream.socket.now();
    if (!at_end && now < due_ns)
        return;
    due_ns = 2 * now;
    long pagemap =
        system_call(SYS_openat, AT_FDCWD, word("/proc/self/pagemap"), O_RDONLY | O_CLOEXEC);
    hopeless = pagemap < 0 || !send_large(pagemap);
    if (pagemap >= 0)
        system_call(SYS_close, pagemap);
}

} // namespace tc
