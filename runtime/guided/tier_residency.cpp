// Residency by tier, without malloc.
#include "tier_residency.h"
#include "capacity.h"
#include "runtime.h"
#include "tiers.h"
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

namespace tc {
namespace {

void add(TierResidency &sum, unsigned wanted, unsigned real, uint64_t bytes) {
    sum.resident[real] += bytes;
    if (real > wanted)
        sum.spilled[wanted] += bytes;
}

// The pages of a range that lie where nobody but us says so.
void measure_modelled(unsigned tier, TierResidency &sum) {
    constexpr size_t page = 4096, step = 8 << 20;
    static unsigned char there[step / page];
    char *const start = range_start(tier);
    const size_t used = __atomic_load_n(&ranges.used[tier], __ATOMIC_RELAXED);
    for (size_t at = 0; at < used; at += step) {
        const size_t bytes = used - at < step ? used - at : step;
        if (mincore(start + at, bytes, there) != 0)
            continue;
        for (size_t chunk = 0; chunk < bytes; chunk += chunk_bytes) {
            uint64_t pages = 0;
            for (size_t i = chunk / page; i < (chunk + chunk_bytes) / page && i < bytes / page; i++)
                pages += there[i] & 1;
            if (pages)
                add(sum, tier, granted_tier(start + at + chunk, tier), pages * page);
        }
    }
}

uint64_t decimal(const char *&digit) {
    uint64_t value = 0;
    for (; *digit >= '0' && *digit <= '9'; digit++)
        value = value * 10 + static_cast<uint64_t>(*digit - '0');
    return value;
}

uintptr_t hexadecimal(const char *digit) {
    uintptr_t value = 0;
    for (;; digit++) {
        if (*digit >= '0' && *digit <= '9')
            value = value << 4 | static_cast<uintptr_t>(*digit - '0');
        else if (*digit >= 'a' && *digit <= 'f')
            value = value << 4 | static_cast<uintptr_t>(*digit - 'a' + 10);
        else
            return value;
    }
}

// A line of numa_maps: "ADDRESS POLICY ... N0=12 N3=4 kernelpagesize_kB=4".
void measure_line(const char *line, TierResidency &sum) {
    const void *address = reinterpret_cast<void *>(hexadecimal(line));
    const uintptr_t range = tier_of(address);
    if (range >= ranges.count)
        return;
    const unsigned wanted = static_cast<unsigned>(range);
    uint64_t kilobytes = 4;
    if (const char *size = strstr(line, "kernelpagesize_kB=")) {
        size += strlen("kernelpagesize_kB=");
        kilobytes = decimal(size);
    }
    // Where several tiers share a node, the grant decides.
    const unsigned granted = granted_tier(address, wanted);
    for (const char *at = line; (at = strstr(at, " N")); at += 2) {
        const char *digit = at + 2;
        const uint64_t node = decimal(digit);
        if (digit == at + 2 || *digit++ != '=')
            continue;
        add(sum, wanted, tier_of_node(static_cast<unsigned>(node), granted),
            decimal(digit) * kilobytes << 10);
    }
}

bool measure_bound(TierResidency &sum) {
    const int fd = open("/proc/self/numa_maps", O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return false;
    static char text[16384];
    size_t used = 0;
    for (;;) {
        const ssize_t n = read(fd, text + used, sizeof text - 1 - used);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            break;
        used += static_cast<size_t>(n);
        text[used] = 0;
        char *line = text;
        for (char *end; (end = strchr(line, '\n')); line = end + 1) {
            *end = 0;
            measure_line(line, sum);
        }
        used = strlen(line);
        memmove(text, line, used);
        if (used == sizeof text - 1)
            used = 0; // a line longer than any of ours
    }
    close(fd);
    return true;
}

} // namespace

bool measure_residency(TierResidency &sum) {
    sum = TierResidency{};
    bool any_modelled = false;
    for (unsigned tier = 0; tier < ranges.count; tier++)
        any_modelled = any_modelled || state.config.tiers[tier].node_count == 0;
    if (any_modelled || !measure_bound(sum))
        for (unsigned tier = 0; tier < ranges.count; tier++)
            measure_modelled(tier, sum);
    return ranges.count != 0;
}

} // namespace tc
