// Strips: innermost loops of a twin whose references are all known before they start, so
// that one call records the whole of them (docs/trace-profile.md).
#pragma once
#include "TwinsReferences.h"

namespace llvm {
class DominatorTree;
class LoopInfo;
class ScalarEvolution;
} // namespace llvm

namespace thermocline {

struct StripGroup {
    Group references;
    llvm::Value *start; // the first byte's address in the first iteration
    llvm::Value *step;  // in bytes
};

struct Strip {
    llvm::Instruction *at; // before the loop
    llvm::Value *iterations;
    std::vector<StripGroup> groups; // in the order of an iteration
    std::vector<llvm::BasicBlock *> blocks;
    uint64_t stamps; // that an iteration takes
};

struct LoopAnalyses {
    llvm::DominatorTree &tree;
    llvm::LoopInfo &loops;
    llvm::ScalarEvolution &evolution;
};

// Innermost loops get a block before them, where a strip's call can stand.
void insertPreheaders(LoopAnalyses);

// Takes the strips' references out of `segments`.
std::vector<Strip> findStrips(std::vector<Segment> &segments, LoopAnalyses);

// Appends a tc_strip_group.
void describeStripGroup(const Group &, std::vector<uint16_t> &words);

} // namespace thermocline
