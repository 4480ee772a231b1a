// The references of a function, in the order and the groups in which its twin records them.
#pragma once
#include "llvm/IR/Function.h"
#include "llvm/IR/IntrinsicInst.h"
#include <vector>

namespace llvm {
class ScalarEvolution;
}

namespace thermocline {

// One reference at a constant distance from a base address.
struct Reference {
    llvm::Instruction *instruction;
    llvm::Value *base;
    int64_t offset;
    uint64_t bytes;
    llvm::Align align; // of base + offset
    bool store;
};

// At constant distances within a line's length, in the program's order.  All have the
// first one's base.
using Group = std::vector<Reference>;

// A stretch of one basic block in which no other code of the program runs, its groups in
// the order of their first references.
struct Segment {
    std::vector<Group> groups;
    llvm::BasicBlock *block;
    llvm::Instruction *end; // behind them, or null
    bool bulk;              // the end is to be recorded itself
};

std::vector<Segment> findSegments(llvm::Function &, llvm::ScalarEvolution &);

// True if the function refers to memory, or calls what may: it can be asked for as a region.
bool isToBeRecorded(const llvm::Function &);

// An instruction of the machine whose lanes a mask switches.
bool isTargetMasked(const llvm::IntrinsicInst &);

} // namespace thermocline
