// Finds the ranges of non-heap memory: modules' writable data, threads' stacks.
#include "owners.h"
#include "recorder.h"
#include "unseen.h"
#include <fcntl.h>
#include <link.h>
#include <sys/mman.h>
#include <unistd.h>

namespace tc {

static constexpr uint32_t max_ranges = 4000; // segments; more are counted as "other"

static int add_module(dl_phdr_info *info, size_t, void *data) {
    auto *found = static_cast<GlobalRanges *>(data);
    for (unsigned i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) &segment = info->dlpi_phdr[i];
        // Constants are globals as well, so every loaded segment counts.
        if (segment.p_type != PT_LOAD || found->count == max_ranges)
            continue;
        uintptr_t low = info->dlpi_addr + segment.p_vaddr;
        AddressRange range{low, low + segment.p_memsz};
        uintptr_t own = reinterpret_cast<uintptr_t>(&miss);
        if ((segment.p_flags & PF_X) && own >= range.low && own < range.high)
            unseen_set_recorder(range.low, range.high);
        uint32_t at = found->count++;
        for (; at > 0 && found->ranges[at - 1].low > range.low; at--)
            found->ranges[at] = found->ranges[at - 1];
        found->ranges[at] = range;
    }
    return 0;
}

void owners_find_globals() {
    size_t bytes = sizeof(GlobalRanges) + max_ranges * sizeof(AddressRange);
    void *memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (memory == MAP_FAILED)
        return;
    auto *found = static_cast<GlobalRanges *>(memory);
    dl_iterate_phdr(add_module, found);
    // The old ranges stay mapped, since another thread may be reading them: a page or
    // two for each dlopen.
    __atomic_store_n(&globals, found, __ATOMIC_RELEASE);
}

static bool parse_hex(const char *&p, const char *end, uintptr_t &value) {
    const char *start = p;
    value = 0;
    for (; p < end; p++) {
        if (*p >= '0' && *p <= '9')
            value = value << 4 | uintptr_t(*p - '0');
        else if (*p >= 'a' && *p <= 'f')
            value = value << 4 | uintptr_t(*p - 'a' + 10);
        else
            break;
    }
    return p > start;
}

// Not pthread_getattr_np: that allocates from the program's heap.
void owners_find_stack(Recorder &r) {
    uintptr_t here = reinterpret_cast<uintptr_t>(__builtin_frame_address(0));
    r.stack_low = r.stack_high = here;
    int file = open("/proc/self/maps", O_RDONLY | O_CLOEXEC);
    if (file < 0)
        return;
    char text[4096];
    size_t filled = 0;
    bool found = false;
    for (ssize_t got; !found && (got = read(file, text + filled, sizeof text - filled)) > 0;) {
        filled += size_t(got);
        const char *line = text, *end = text + filled;
        for (const char *p = line; p < end && !found; p++) {
            if (*p != '\n')
                continue;
            const char *q = line;
            uintptr_t low, high;
            if (parse_hex(q, p, low) && *q++ == '-' && parse_hex(q, p, high) && here >= low &&
                here < high) {
                r.stack_low = low;
                r.stack_high = high;
                // The main thread's grows.
                for (const char *name = q; name + 7 <= p; name++)
                    if (__builtin_memcmp(name, "[stack]", 7) == 0)
                        r.stack_low = high - (uintptr_t(1) << 30);
                found = true;
            }
            line = p + 1;
        }
        filled = size_t(end - line);
        if (filled == sizeof text)
            filled = 0; // a line longer than any mapping's we look for
        __builtin_memmove(text, line, filled);
    }
    close(file);
}

} // namespace tc
