// A contiguous range of address space in blocks, and where the kernel puts each.
#pragma once
#include "node_policy.h"
#include <cstddef>

namespace tc {

struct Blocks {
    size_t bytes, block, count;
};

// A block size for the range: `asked`, or ours.  False if that makes no sense.
bool divide_into_blocks(size_t bytes, size_t asked, Blocks &);

// Reserved, aligned to huge pages, nothing mapped in it; null after a failure.
char *reserve_range(size_t bytes);
void release_range(void *start, size_t bytes);

// As mapped by reserve_range, in whole pages.
size_t whole_pages(size_t bytes);

// Private, zeroed memory.  `policy_of` says which of `policies` a block has; neighbours that have
// the same get it in one call.  Null after a failure, then nothing is left.
char *map_blocks(const Blocks &, NodePolicy *policies,
                 unsigned (*policy_of)(size_t block, const void *how), const void *how);

// One policy for all.
char *map_whole(size_t bytes, NodePolicy &);

} // namespace tc
