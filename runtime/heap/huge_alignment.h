// Blocks aligned to more than mimalloc's heaps serve: whole segments of the same range.
#pragma once
#include "allocator.h"

namespace tc {

void *allocate_huge_alignment(mi_heap_t *, size_t size, size_t align);
void free_huge_alignment(void *);
size_t usable_huge_alignment(const void *);

// Around fork.
void lock_huge_alignment();
void unlock_huge_alignment();

} // namespace tc
