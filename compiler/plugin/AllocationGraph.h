// The part of the call graph that leads to an allocation.
#pragma once
#include "SiteKey.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/IR/InstrTypes.h"
#include "llvm/IR/Module.h"
#include <vector>

namespace thermocline {

// A call of a function that leads to an allocation.  `operand` is the callee, or
// the argument by which a library is told what to call back (OpenMP's outlined
// functions, pthread_create's start routine).
struct LeadingCall {
    llvm::CallBase *call;
    unsigned operand;
    unsigned callee; // index of its node
    Frames frames;
};

struct LeadingFunction {
    llvm::Function *function = nullptr;
    std::vector<LeadingCall> calls;
    unsigned size = 0;       // instructions
    unsigned need = 0;       // frames that its allocations still want from its callers
    bool isRoot = false;     // may be called from where we can't see
    llvm::StringRef notCopy; // why it can't be copied; empty if it can
};

struct AllocationGraph {
    std::vector<LeadingFunction> functions; // in the module's order
    uint64_t moduleSize = 0;                // instructions
};

AllocationGraph makeAllocationGraph(llvm::Module &module, unsigned context, FrameTable &frames);

} // namespace thermocline
