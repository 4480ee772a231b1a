// The configuration that `thermocline run` and `profile` write (docs/internals.md).
// Untrusted input: every field is checked, and the first fault ends the reading.
#pragma once
#include <cstddef>
#include <cstdint>

namespace tc {

constexpr unsigned max_tiers = 8;
constexpr unsigned max_classes = 16; // tiers and splits together
constexpr unsigned max_caches = 4;
constexpr unsigned max_functions = 32;
constexpr unsigned max_context = 16;
constexpr unsigned max_options = 16;

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

// Of a sampler, which checks them itself.
struct Option {
    const char *name, *value;
};

// How the memory of a class is dealt to the tiers: in parts of the sum.
struct SplitConfig {
    static constexpr uint32_t most = 65536;
    uint32_t shares[max_tiers];
    bool spread; // pages go round each tier's nodes, not to the nearest first
    bool huge;   // the kernel is asked for pages of 2 MiB
};

struct PlannedSite {
    const char *key;
    uint32_t placement_class; // a tier's number, or a split's
};

struct Config {
    HeapMode heap;
    const char *sampler; // its name, or null
    Option options[max_options];
    unsigned option_count;
    bool trace;             // the sampler records by the twins
    const char *stream;     // the collector's socket, or null: references are sent there
    uint64_t stream_budget; // references
    const char *functions[max_functions]; // whose entering and leaving is recorded
    unsigned function_count;
    uint64_t stream_from_ns, stream_to_ns; // since recording began: only then; 0, 0: always
    bool only_functions;                   // what runs outside of them is not
    uint32_t interval_ms;
    const char *report;  // PREFIX, or null
    const char *profile; // PREFIX, or null
    const char *moves;   // PREFIX, or null: of online guidance
    unsigned tier_count;
    TierConfig tiers[max_tiers];
    unsigned class_count; // the tiers, then the splits
    SplitConfig splits[max_classes];
    int default_tier; // -1: none was named
    int nonheap_tier; // -1: none
    unsigned cache_levels;
    CacheLevel caches[max_caches];
    // By whose code an allocation is that carries no site matters to the plan: some key ends in
    // "!unannotated", or it belongs to its call path.
    bool plans_unannotated;
    bool preload;     // each call path of unannotated code is a site
    uint32_t context; // callers that are told apart there

    PlannedSite *sites;
    uint32_t site_count, site_room;
    uint32_t *buckets; // open addressing: index into sites + 1, or 0
    uint32_t bucket_mask;

    bool add(const char *key, uint32_t placement_class); // false: it has been named before
    const PlannedSite *find(const char *key) const;
    const char *option(const char *name) const; // null: not given
};

// Reads `text`, which it changes and the configuration keeps pointers into; text[bytes] must
// be writable.  False on a fault, then `error` holds one line that says which.
bool parse_config(char *text, size_t bytes, Config &, char *error, size_t error_bytes);

// Gives back what parse_config took, apart from the text.
void drop_config(Config &);

// The same for a file.
bool load_config(const char *path, Config &, char *error, size_t error_bytes);

} // namespace tc
