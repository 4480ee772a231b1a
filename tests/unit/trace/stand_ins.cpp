// The parts of the library that the recorder asks: who owns an address.
#include "stand_ins.h"
#include "sites.h"
#include "trace/tier_traffic.h"
#include <sys/mman.h>

SiteHeapRange site_heap_range;
uint32_t site_heap_tag_of(uintptr_t) { return 0; }

namespace tc {
PageTiers page_tiers;
bool tier_traffic_start(const Config &) { return false; }
uint32_t tier_of_page(uintptr_t) { return 0; }
SiteRecord *site_record(uint32_t id) {
    static const char *const keys[] = {nullptr, "one", "two", "three"};
    static SiteRecord records[4];
    if (id == 0 || id >= 4)
        return nullptr;
    records[id].key = keys[id];
    return &records[id];
}
} // namespace tc

char *make_owned_memory(unsigned units) {
    static uint32_t owners[1024];
    void *memory = mmap(nullptr, size_t(units + 1) << site_heap_unit_shift, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    uintptr_t unit = uintptr_t(1) << site_heap_unit_shift;
    uintptr_t start = (reinterpret_cast<uintptr_t>(memory) + unit - 1) & ~(unit - 1);
    for (unsigned i = 0; i < units; i++)
        owners[i] = i % 3 + 1;
    site_heap_range = {start, uintptr_t(units) << site_heap_unit_shift, owners};
    return reinterpret_cast<char *>(start);
}
