// What the kernel says of its nodes (/sys/devices/system/node).
#pragma once
#include "node_policy.h"

namespace tc {

struct NodeSet {
    uint64_t words[node_words] = {};
    bool has(int node) const {
        const auto at = static_cast<unsigned>(node);
        return at < TierConfig::max_nodes && (words[at / 64 % node_words] >> at % 64 & 1);
    }
    void add(int node) {
        const auto at = static_cast<unsigned>(node);
        words[at / 64 % node_words] |= uint64_t(1) << at % 64;
    }
};

// "0-2,5" as the kernel writes it; false if it is something else.
bool parse_node_list(const char *text, NodeSet &);

// A list of that folder: has_memory, has_cpu, online.  False if it can't be read.
bool read_nodes(const char *list, NodeSet &);

// Of the nodes with memory, those that this process may use now.
bool usable_nodes(NodeSet &);

// What the SLIT says, 10 for the node itself; 0 if it says nothing.
unsigned node_distance(int from, int to);

// Memory that is free, or holds only files that can be read again; 0 if that isn't known.
uint64_t free_bytes(int node);

// MB/s that the firmware gives for the node's nearest processors; 0 if it doesn't.
uint64_t read_bandwidth(int node);

// The weight of weighted interleaving; 0 where the kernel has none (before 6.9).
uint64_t interleave_weight(int node);

// The text of a node's own file, such as "cpulist".
bool read_node_file(int node, const char *name, char *text, size_t size);

} // namespace tc
