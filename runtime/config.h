// The configuration that `thermocline run` and `profile` write (docs/internals.md).
// Untrusted input: every field is checked, and the first fault ends the reading.
#pragma once
#include "thread.h"
#include <cstddef>
#include <cstdint>

namespace tc {

enum class HeapMode : uint8_t { plain, guided, sites };

struct TierConfig {
    static constexpr unsigned max_nodes = 1024;
    uint64_t nodes[max_nodes / 64]; // bit mask
    int node_count;                 // 0: modelled only
    uint64_t capacity;              // bytes, 0: no limit
};

struct CacheLevel {
    uint64_t bytes;
    uint32_t ways, line;
    bool shared;
};

struct PlannedSite {
    uint32_t tier;
    const char *key; // not terminated: inside the file's text
    uint32_t key_bytes;
    uint32_t hash;
};

struct Config {
    HeapMode heap;
    bool trace;
    unsigned interval_ms;
    const char *report;  // PREFIX or null
    const char *profile; // PREFIX or null
    unsigned tier_count;
    TierConfig tiers[max_tiers];
    int default_tier;
    int nonheap_tier; // -1: none
    unsigned cache_levels;
    CacheLevel caches[4];
    PlannedSite *sites;
    uint32_t site_count;
};

} // namespace tc
