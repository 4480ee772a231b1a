// The configuration that `thermocline run` and `profile` write (docs/internals.md).
// Untrusted input: every field is checked, and the first fault ends the reading.
#pragma once
#include <cstddef>
#include <cstdint>

namespace tc {

constexpr unsigned max_tiers = 8;
constexpr unsigned max_caches = 4;

enum class HeapMode : uint8_t { plain, guided, sites };

struct TierConfig {
    static constexpr unsigned max_nodes = 1024;
    uint64_t nodes[max_nodes / 64]; // bit mask
    unsigned node_count;            // 0: modelled only
    uint64_t capacity;              // bytes, 0: no limit
};

struct CacheLevel {
    uint64_t bytes;
    uint32_t ways, line;
    bool shared;
};

struct PlannedSite {
    const char *key;
    uint32_t tier;
};

struct Config {
    HeapMode heap;
    bool trace;
    const char *stream;     // the collector's socket, or null: references are sent there
    uint64_t stream_budget; // references
    uint32_t interval_ms;
    const char *report;  // PREFIX, or null
    const char *profile; // PREFIX, or null
    unsigned tier_count;
    TierConfig tiers[max_tiers];
    int default_tier; // -1: none was named
    int nonheap_tier; // -1: none
    unsigned cache_levels;
    CacheLevel caches[max_caches];
    bool plans_unannotated; // some key ends in "!unannotated"

    PlannedSite *sites;
    uint32_t site_count, site_room;
    uint32_t *buckets; // open addressing: index into sites + 1, or 0
    uint32_t bucket_mask;

    const PlannedSite *find(const char *key) const;
};

// Reads `text`, which it changes and the configuration keeps pointers into; text[bytes] must
// be writable.  False on a fault, then `error` holds one line that says which.
bool parse_config(char *text, size_t bytes, Config &, char *error, size_t error_bytes);

// Gives back what parse_config took, apart from the text.
void drop_config(Config &);

// The same for a file.
bool load_config(const char *path, Config &, char *error, size_t error_bytes);

} // namespace tc
