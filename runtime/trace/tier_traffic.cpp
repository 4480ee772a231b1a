// Page to tier.  A bound tier's page is where the kernel says (move_pages); a modelled
// tier's page is charged to the tier that the plan wants, or to the next one with room,
// when it is first filled.  Compiled without vector registers, like recorder.cpp.
#include "tier_traffic.h"
#include "config.h"
#include "tiers.h"
#include <sys/mman.h>
#include <sys/syscall.h>

namespace tc {

static constexpr unsigned page_shift = page_tier_shift;

PageTiers page_tiers;
static const Config *config;
static uint64_t charged[max_tiers];
static uint32_t nonheap;

bool tier_traffic_start(const Config &from) {
    if (ranges.count == 0)
        return false;
    uint64_t pages = (uint64_t(ranges.count) << ranges.shift) >> page_shift;
    void *memory = mmap(nullptr, pages, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (memory == MAP_FAILED)
        return false;
    config = &from;
    nonheap = uint32_t(from.nonheap_tier >= 0 ? from.nonheap_tier : from.default_tier);
    page_tiers = {ranges.start, pages, static_cast<uint8_t *>(memory)};
    return true;
}

// libc's wrapper sets errno, which is the program's.
static long move_pages(void **pages, int *status) {
    long result;
    register long flags asm("r9") = 0;
    register int *r8 asm("r8") = status;
    register void *nodes asm("r10") = nullptr;
    asm volatile("syscall"
                 : "=a"(result)
                 : "0"(long(SYS_move_pages)), "D"(0L), "S"(1L), "d"(pages), "r"(nodes), "r"(r8),
                   "r"(flags)
                 : "rcx", "r11", "memory");
    return result;
}

static uint32_t tier_of_node(int node, uint32_t otherwise) {
    for (unsigned tier = 0; tier < ranges.tiers; tier++)
        if (node >= 0 && unsigned(node) < TierConfig::max_nodes &&
            (config->tiers[tier].nodes[node / 64] >> (node % 64) & 1))
            return tier;
    return otherwise;
}

// The tier with room for one more page, from `tier` on.  The last one takes all.
static uint32_t charge(uint32_t tier) {
    for (; tier + 1 < ranges.tiers; tier++) {
        uint64_t capacity = config->tiers[tier].capacity;
        uint64_t bytes = __atomic_add_fetch(&charged[tier], 1u << page_shift, __ATOMIC_RELAXED);
        if (capacity == 0 || bytes <= capacity)
            return tier;
        __atomic_fetch_sub(&charged[tier], 1u << page_shift, __ATOMIC_RELAXED);
    }
    __atomic_fetch_add(&charged[tier], 1u << page_shift, __ATOMIC_RELAXED);
    return tier;
}

uint32_t tier_of_page(uintptr_t address) {
    void *page = reinterpret_cast<void *>(address >> page_shift << page_shift);
    if (class_of(page) >= ranges.count)
        return nonheap;
    uint32_t wanted = wanted_tier(unsigned(class_of(page)), page);
    uint8_t &known = page_tiers.tiers[(address - ranges.start) >> page_shift];
    uint8_t seen = __atomic_load_n(&known, __ATOMIC_RELAXED);
    if (seen)
        return seen - 1u;
    if (config->tiers[wanted].node_count > 0) {
        int node = -1;
        // The reference is told before it is made: a page that isn't there yet is asked
        // for again at its next fill.
        if (move_pages(&page, &node) != 0 || node < 0)
            return wanted;
        uint32_t tier = tier_of_node(node, wanted);
        __atomic_store_n(&known, uint8_t(tier + 1), __ATOMIC_RELAXED);
        return tier;
    }
    uint32_t tier = charge(wanted);
    if (!__atomic_compare_exchange_n(&known, &seen, uint8_t(tier + 1), false, __ATOMIC_RELAXED,
                                     __ATOMIC_RELAXED)) {
        __atomic_fetch_sub(&charged[tier], 1u << page_shift, __ATOMIC_RELAXED);
        return seen - 1u;
    }
    return tier;
}

void trace_pages_returned(const void *p, uint64_t bytes) {
    if (!page_tiers.pages || class_of(p) >= ranges.count)
        return;
    uintptr_t first = reinterpret_cast<uintptr_t>(p) - ranges.start;
    for (uintptr_t page = first >> page_shift; page < (first + bytes) >> page_shift; page++) {
        uint8_t tier = __atomic_exchange_n(&page_tiers.tiers[page], 0, __ATOMIC_RELAXED);
        if (tier)
            __atomic_fetch_sub(&charged[tier - 1], 1u << page_shift, __ATOMIC_RELAXED);
    }
}

} // namespace tc
