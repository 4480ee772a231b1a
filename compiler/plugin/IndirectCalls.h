// Makes calls by pointer visible where a pointer may well be an allocator.
#pragma once
#include "AllocationGraph.h"

namespace thermocline {

// Programs that let their user replace the allocator call it through a pointer:
// `methods.acquire(n)`, where the pointer is malloc or a function of their own.
// Each such call first compares the pointer with the few functions of that type
// that allocate and whose address the program takes, and calls those directly:
// the direct call then has a site and a context.  Returns true if there were any.
bool makeAllocatorCallsDirect(llvm::Module &module, const AllocationGraph &graph);

} // namespace thermocline
