// What THERMOCLINE_MIGRATE says: NAME=VALUE, separated by semicolons.  Untrusted input.
#pragma once
#include <cstddef>
#include <cstdint>

namespace tc {

struct MigrateSettings {
    static constexpr unsigned max_nodes = 1024;
    static constexpr uint64_t least_near_bytes = 4 << 21, most_latency_ns = 1000000000,
                              least_bandwidth = 1000000;
    uint64_t near_bytes = 0;               // near=BYTES: what of the managed data is near at most
    char policy[16] = "4K";                // policy=NAME
    char report[512] = "";                 // report=PREFIX
    uint64_t least_bytes = 256 << 10;      // least=BYTES: smaller mappings are left alone
    uint64_t in_latency_ns = 0;            // in-latency-ns=NS
    uint64_t in_bytes_per_second = 0;      // in-bandwidth=BYTES; 0: nothing is charged for bytes
    uint64_t out_latency_ns = 0;           // out-latency-ns=NS
    uint64_t out_bytes_per_second = 0;     // out-bandwidth=BYTES
    uint64_t near_nodes[max_nodes / 64]{}; // near-node=N, far-node=N, repeated: NUMA back end
    uint64_t far_nodes[max_nodes / 64]{};
    int far_node = -1, near_node = -1; // the first of each
    bool copy = false;                 // copy=1: never MOVE on the way in
    bool prefetch = false;             // prefetch=1: streams' next chunks come unasked
    bool check = false;                // check=1: far pages' checksums are compared
};

// False on a fault; then `error` says which, in one line.
bool parse_settings(const char *text, MigrateSettings &, char *error, size_t error_bytes);

} // namespace tc
