// What address translation is made of.  docs/translation.md says what each is.
#pragma once
#include "simulator/time.h"
#include "simulator/translation/buffer.h"
#include "simulator/translation/page.h"
#include "simulator/translation/page_tables.h"
#include <array>
#include <cmath>
#include <nlohmann/json.hpp>
#include <string>

namespace thermocline {

// Where the memory lies that translation keeps to itself.
struct KeptRegion {
    uint32_t node = 0;
    uint64_t address = 0, bytes = 0; // in the node
};

struct TranslationConfig {
    bool on = false, nested = false;
    unsigned levels = 4;         // of page tables, guests' and hosts'
    bool recorded_pages = false; // `pages.recorded` is to be what the traces say
    PageSizes pages;
    std::array<BufferConfig, page_sizes> first; // private, one of each page size
    BufferConfig second, second_huge;           // 4 KiB and 2 MiB pages; 1 GiB pages
    unsigned coalesce = 0; // log2 of the pages that an entry of `second` may hold
    Ps second_ps = 0;      // from a miss of the first to the second's answer
    // Of each core, by the level of the entries kept, from 1 (which point to tables of 4 KiB
    // pages) on; guests' and hosts' apart.
    std::array<BufferConfig, PageTables::most_levels> walk_caches;
    BufferConfig nested_tlb; // guest-physical pages to host-physical ones
    Ps walk_cache_ps = 0, nested_tlb_ps = 0;
    uint32_t walkers = 1;     // walks at a time, of each core
    uint32_t first_cache = 1; // the data cache level that walks refer to first, counted from 0
    std::string name = "baseline";
    nlohmann::json options = nlohmann::json::object(); // of that last level
    double hertz = 1e9;                                // for options that are in cycles
    KeptRegion tables, buffer;
    std::vector<uint32_t> spaces; // of each thread

    Ps cycles(double count) const { return Ps(std::llround(count * 1e12 / hertz)); }
};

} // namespace thermocline
