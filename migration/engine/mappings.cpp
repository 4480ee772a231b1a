// Which mappings are watched: private, anonymous, readable and writable, of some size; whoever
// made them.  The others are counted.
#include "engine.h"
#include "own_memory.h"
#include "sites/pagemap_scan.h"
#include <cstdlib>
#include <cstring>
#include <dirent.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace tc {
namespace {

constexpr size_t text_bytes = 1 << 16;
constexpr uint64_t page_may_be_protected = 1 << 0, page_is_swapped = 1 << 4;

uint64_t hexadecimal(const char *&at) {
    uint64_t value = 0;
    for (;; at++) {
        const char c = *at;
        if (c >= '0' && c <= '9')
            value = value * 16 + uint64_t(c - '0');
        else if (c >= 'a' && c <= 'f')
            value = value * 16 + uint64_t(c - 'a' + 10);
        else
            return value;
    }
}

// FROM-TO PERMISSIONS OFFSET DEVICE INODE NAME
Mapping parse(const char *line) {
    Mapping mapping{};
    mapping.from = hexadecimal(line);
    line += *line == '-';
    mapping.to = hexadecimal(line);
    line += *line == ' ';
    mapping.permissions = line;
    for (unsigned field = 0; field < 3; field++) { // to the inode
        while (*line && *line != ' ')
            line++;
        while (*line == ' ')
            line++;
    }
    mapping.file = *line && *line != '0';
    while (*line && *line != ' ')
        line++;
    while (*line == ' ')
        line++;
    mapping.name = line;
    return mapping;
}

template <typename Use> void each_mapping(char *text, const Use &use) {
    const int fd = open("/proc/self/maps", O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return;
    size_t used = 0;
    for (;;) {
        const ssize_t got = read(fd, text + used, text_bytes - 1 - used);
        if (got <= 0)
            break;
        used += size_t(got);
        text[used] = 0;
        char *line = text;
        while (char *const end = strchr(line, '\n')) {
            *end = 0;
            use(parse(line));
            line = end + 1;
        }
        used -= size_t(line - text);
        memmove(text, line, used);
    }
    close(fd);
}

} // namespace

uint64_t Engine::anonymous_pages() {
    char line[128];
    const ssize_t got = pread(status_file, line, sizeof line - 1, 0); // statm
    if (got <= 0)
        return 0;
    line[got] = 0;
    char *at = line;
    strtoull(at, &at, 10);
    const uint64_t resident = strtoull(at, &at, 10), shared = strtoull(at, &at, 10);
    return resident > shared ? resident - shared : 0;
}

bool Engine::overlaps_own(uint64_t from, uint64_t to) const {
    const OwnMemory own = own_memory();
    const auto touches = [&](uint64_t low, uint64_t high) { return from < high && to > low; };
    const auto holds = [&](const void *at) {
        return from <= reinterpret_cast<uint64_t>(at) && reinterpret_cast<uint64_t>(at) < to;
    };
    return touches(own.from, own.to) || touches(gate, gate + page_bytes) ||
           touches(table.mapped_from(), table.mapped_to()) || holds(policy) ||
           holds(back_end); // this library's data
}

// Two mappings of the program's that touch are one for the kernel, and mremap refuses one that is
// two for the kernel, as it would be if it were watched in part (EFAULT).  Other threads change
// what is read here meanwhile.  So all is watched between two mappings that never will be.
void Engine::look_at_mappings() {
    looked_at = monotonic_ns();
    pin_threads();
    uint64_t from = 0;
    bool news = false, refused = false;
    const auto watch_until = [&](uint64_t to) {
        if (news && from < to && !userfault.watch(from, to))
            refused = true;
        news = false;
    };
    each_mapping(text, [&](const Mapping &mapping) {
        if (is_ours(mapping)) {
            news |= mapping.to - mapping.from >= settings.least_bytes && is_news(mapping);
        } else {
            watch_until(mapping.from);
            from = mapping.to;
        }
    });
    watch_until(uint64_t(1) << 47);
    // Something is there that can't be watched, and not just for a moment: a program's own
    // userfaultfd, a mapping of a kind that looks like others.
    constexpr unsigned patience = 3;
    refused_looks = refused ? refused_looks + 1 : 0;
    counts.unmanaged_bytes = counts.managed_bytes = 0;
    each_mapping(text, [&](const Mapping &mapping) {
        if (mapping.permissions[0] == '-' || mapping.permissions[3] != 'p' || mapping.file ||
            overlaps_own(mapping.from, mapping.to))
            return;
        const uint64_t bytes = mapping.to - mapping.from;
        if (!is_ours(mapping) || bytes < settings.least_bytes) {
            counts.unmanaged_bytes += bytes;
            return;
        }
        if (is_news(mapping)) {
            if (refused_looks >= patience && !userfault.watch(mapping.from, mapping.to))
                counts.refused_mappings++;
            take_in(mapping.from, mapping.to);
        }
        (is_news(mapping) ? counts.unmanaged_bytes : counts.managed_bytes) += bytes;
    });
    const uint64_t managed = near_pages() + far_pages, resident = anonymous_pages();
    unmanaged_pages = resident > managed ? resident - managed : 0;
    counts.peak_managed = managed > counts.peak_managed ? managed : counts.peak_managed;
}

// Whether it may be watched.
bool Engine::is_ours(const Mapping &mapping) const {
    const char *const may = mapping.permissions;
    const bool special = mapping.name[0] == '[' && strcmp(mapping.name, "[heap]") != 0 &&
                         strncmp(mapping.name, "[anon:", 6) != 0;
    if (settings.near_node >= 0 && planned_place(mapping.from) == Planned::far)
        return false; // the runtime has bound it to far memory, where it is used in place
    return may[0] == 'r' && may[1] == 'w' && may[2] != 'x' && may[3] == 'p' && !mapping.file &&
           !special && !overlaps_own(mapping.from, mapping.to);
}

bool Engine::is_news(const Mapping &mapping) const {
    for (uint64_t at = mapping.from; at < mapping.to; at += page_bytes) {
        const Region *const region = table.find(at);
        if (!region || !region->managed.has(uint32_t(at / page_bytes % region_pages)))
            return true;
    }
    return false;
}

// What is watched of it is managed from now on, and only this thread puts pages there.  The scan
// tells that of each page (watched mappings may be write-protected), and not the list of mappings:
// what was unmapped before it was watched, and mapped again, would be moved out unseen.
void Engine::take_in(uint64_t from, uint64_t to) {
    const int fd = open("/proc/self/pagemap", O_RDONLY | O_CLOEXEC);
    PageRegion found[64];
    for (uint64_t at = from; fd >= 0 && at < to;) {
        PmScanArg scan{};
        scan.size = sizeof scan;
        scan.start = at;
        scan.end = to;
        scan.vec = reinterpret_cast<uint64_t>(found);
        scan.vec_len = 64;
        scan.category_mask = page_may_be_protected;
        scan.return_mask = page_may_be_protected | page_is_present | page_is_swapped;
        const int count = ioctl(fd, pagemap_scan, &scan);
        for (int i = 0; i < count; i++)
            for (at = found[i].start; at < found[i].end; at += page_bytes)
                if (!take_in_page(at, found[i].categories & (page_is_present | page_is_swapped)))
                    counts.refused_mappings++;
        if (count < 64)
            break;
    }
    if (fd >= 0)
        close(fd);
}

// False: there are too many.
bool Engine::take_in_page(uint64_t at, bool there) {
    Region *const region = table.make(at);
    if (!region)
        return false;
    const uint32_t page = uint32_t(at / page_bytes % region_pages);
    region->managed.put(page);
    if (there && !region->mapped.has(page) && !region->aside.has(page)) {
        region->mapped.put(page);
        stand(*region, page, false);
    }
    return true;
}

// The kernel clears a thread's number, and takes its robust mutexes, when the thread is past
// waiting for us: its descriptor must be there.  The list's head is in it.
void Engine::pin_threads() {
    const int fd = open("/proc/self/task", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0)
        return;
    for (long got; (got = syscall(SYS_getdents64, fd, text, text_bytes)) > 0;)
        for (long at = 0; at < got;) {
            const auto *const entry = reinterpret_cast<const dirent64 *>(text + at);
            at += entry->d_reclen;
            const long thread = strtol(entry->d_name, nullptr, 10);
            robust_list_head *head = nullptr;
            size_t bytes = 0;
            if (thread <= 0 || syscall(SYS_get_robust_list, thread, &head, &bytes) != 0 || !head)
                continue;
            const uint64_t around = reinterpret_cast<uint64_t>(head);
            for (uint64_t page = (around - page_bytes) & ~(page_bytes - 1);
                 page <= around + page_bytes; page += page_bytes) {
                const uint32_t number = uint32_t(page / page_bytes % region_pages);
                pinned.get(page / region_bytes).put(number);
                Region *const region = table.find(page);
                if (region && region->aside.has(number))
                    fault(page);
            }
        }
    close(fd);
}

} // namespace tc
