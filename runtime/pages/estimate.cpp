// See estimate.h.
#include "estimate.h"
#include "own_memory.h"
#include "site_heap_range.h"
#include "site_stats.h"
#include "text.h"

namespace tc::pages {
namespace {

// Tagged pages hold blocks of many sites; they are looked at in pieces.
constexpr uintptr_t page = 4096, piece = 256;

struct Estimate {
    double written, accessed; // bytes
    uint64_t written_pages;   // that were seen
};
Estimate *sites;

// Calls use(site, bytes) for every piece of [from, to) of the heap that some site owns.
template <typename Use> void each_owner(uintptr_t from, uintptr_t to, Use use) {
    while (from < to) {
        const size_t unit = (from - site_heap_range.base) >> site_heap_unit_shift;
        uintptr_t end = site_heap_range.base + ((unit + 1) << site_heap_unit_shift);
        end = end < to ? end : to;
        const uint32_t owner = unit_owner(unit);
        const uintptr_t step = owner & site_heap_tagged ? piece : end - from;
        for (; from < end; from += step) {
            const uint32_t site = tc_owner_of(from);
            if (site && site < site_limit)
                use(site, step);
        }
        from = end;
    }
}

} // namespace

bool estimate_start() {
    sites = static_cast<Estimate *>(own_memory_map(site_limit * sizeof(Estimate)));
    return sites != nullptr;
}

void add_written(uintptr_t from, uintptr_t to, double factor) {
    each_owner(from, to, [factor](uint32_t site, uintptr_t bytes) {
        sites[site].written += double(bytes) * factor;
        sites[site].written_pages += (bytes + page - 1) / page;
    });
}

void add_accessed(uintptr_t from, uintptr_t to, uint64_t bytes) {
    uint64_t owned = 0;
    each_owner(from, to, [&owned](uint32_t, uintptr_t of_site) { owned += of_site; });
    const double each = owned ? double(bytes) / double(owned) : 0;
    each_owner(from, to, [each](uint32_t site, uintptr_t of_site) {
        sites[site].accessed += double(of_site) * each;
    });
}

void estimate_snapshot(Traffic *to, uint32_t count, double looks_factor) {
    for (uint32_t site = 1; site < count; site++) {
        const Estimate &estimate = sites[site];
        // Where accessed bits could not be read, or came later: a written page was accessed.
        const double accessed = estimate.accessed * looks_factor;
        const double read = accessed > estimate.written ? accessed : estimate.written;
        to[site] = {0, 0, uint64_t(read), uint64_t(estimate.written)};
    }
}

void put_estimate(JsonFile &json, uint32_t site) {
    json.number("accessed_page_bytes", uint64_t(sites[site].accessed));
    json.number("written_page_bytes", uint64_t(sites[site].written));
    json.number("written_pages_seen", sites[site].written_pages);
}

} // namespace tc::pages
