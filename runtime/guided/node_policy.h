// The kernel's memory policies: which nodes a range of memory is taken from.
#pragma once
#include "config.h"

namespace tc {

// linux/mempolicy.h; Debian 12's lacks what newer kernels know.
constexpr int mpol_preferred = 1, mpol_interleave = 3, mpol_preferred_many = 5,
              mpol_weighted_interleave = 6;
constexpr unsigned mpol_move = 1 << 1; // pages that are there move

constexpr unsigned node_words = TierConfig::max_nodes / 64;

struct NodePolicy {
    int mode; // 0: none
    uint64_t nodes[node_words];
};

unsigned count_nodes(const uint64_t *nodes);

// The nodes that the process's cpuset allows; all, where the kernel does not say.
void allowed_nodes(uint64_t *nodes);

// Those nodes first, and others when they are full.
NodePolicy prefer_nodes(const uint64_t *nodes);

// Of pages of [start, start + bytes) that are touched from now on; of the calling thread's, if
// start is null.  The policy becomes what an older kernel knows, if need be.
bool set_node_policy(void *start, size_t bytes, NodePolicy &, unsigned flags = 0);

} // namespace tc
