// Chooses the loops that become strips, and computes before each what the recorder has to
// be told: the number of iterations, and each group's first address and step.
#include "TwinsStrips.h"
#include "trace/record.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/Analysis/ScalarEvolution.h"
#include "llvm/Analysis/ScalarEvolutionExpressions.h"
#include "llvm/Config/llvm-config.h"
#include "llvm/IR/Dominators.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/Transforms/Utils/LoopUtils.h"
#include "llvm/Transforms/Utils/ScalarEvolutionExpander.h"

using namespace llvm;

namespace thermocline {

namespace {

using SegmentsByBlock = DenseMap<BasicBlock *, std::vector<Segment *>>;

// A group of a loop, as expressions.
struct Walk {
    Group *group;
    const SCEV *start, *step;
};

class Finder {
  public:
    Finder(std::vector<Segment> &segments, LoopAnalyses analyses)
        : analyses(analyses), evolution(analyses.evolution),
#if LLVM_VERSION_MAJOR >= 22
          expander(evolution, "strip") {
#else
          expander(evolution, evolution.getDataLayout(), "strip") {
#endif
        for (Segment &segment : segments)
            byBlock[segment.block].push_back(&segment);
    }

    std::vector<Strip> strips;
    void visit(Loop &);

  private:
    const SCEV *iterationsOf(Loop &, ArrayRef<BasicBlock *> recorded);
    bool findBlocks(Loop &, std::vector<BasicBlock *> &recorded);
    bool findWalk(Loop &, Group &, Walk &);
    Value *expand(const SCEV *, Instruction &at);

    LoopAnalyses analyses;
    ScalarEvolution &evolution;
    SCEVExpander expander;
    SegmentsByBlock byBlock;
};

} // namespace

// The blocks with references, in the order of their execution: each runs once an
// iteration.  False if something in the loop records by itself or may run other code.
bool Finder::findBlocks(Loop &loop, std::vector<BasicBlock *> &recorded) {
    BasicBlock *latch = loop.getLoopLatch();
    if (!latch)
        return false;
    for (BasicBlock *block : loop.blocks()) {
        const auto &segments = byBlock[block];
        if (llvm::any_of(segments, [](Segment *segment) { return segment->end; }))
            return false;
        if (llvm::all_of(segments, [](Segment *segment) { return segment->groups.empty(); }))
            continue;
        if (!analyses.tree.dominates(block, latch))
            return false;
        recorded.push_back(block);
    }
    llvm::sort(recorded, [&](BasicBlock *a, BasicBlock *b) {
        return a != b && analyses.tree.dominates(a, b);
    });
    return !recorded.empty();
}

// How often those blocks run; null if that isn't known before the loop.
const SCEV *Finder::iterationsOf(Loop &loop, ArrayRef<BasicBlock *> recorded) {
    BasicBlock *exiting = loop.getExitingBlock();
    if (!exiting || !analyses.tree.dominates(exiting, loop.getLoopLatch()))
        return nullptr;
    const SCEV *taken = evolution.getBackedgeTakenCount(&loop);
    Type *i64 = Type::getInt64Ty(exiting->getContext());
    if (isa<SCEVCouldNotCompute>(taken) || evolution.getTypeSizeInBits(taken->getType()) > 64)
        return nullptr;
    // The blocks behind the exit don't run in the last round.
    bool before = analyses.tree.dominates(recorded.back(), exiting);
    bool behind = analyses.tree.properlyDominates(exiting, recorded.front());
    if (before)
        return evolution.getTripCountFromExitCount(taken, i64, &loop);
    return behind ? evolution.getNoopOrZeroExtend(taken, i64) : nullptr;
}

bool Finder::findWalk(Loop &loop, Group &group, Walk &walk) {
    const Reference &first = group.front();
    int64_t least = first.offset;
    for (const Reference &reference : group)
        least = std::min(least, reference.offset);
    Type *i64 = Type::getInt64Ty(first.instruction->getContext());
    const SCEV *base = evolution.getSCEV(first.base);
    const SCEV *address = evolution.getAddExpr(base, evolution.getConstant(i64, uint64_t(least)));
    walk = {&group, address, evolution.getZero(i64)};
    if (evolution.isLoopInvariant(address, &loop))
        return true;
    const auto *recurrence = dyn_cast<SCEVAddRecExpr>(address);
    if (!recurrence || recurrence->getLoop() != &loop || !recurrence->isAffine())
        return false;
    walk.start = recurrence->getStart();
    walk.step = recurrence->getStepRecurrence(evolution);
    return evolution.isLoopInvariant(walk.step, &loop);
}

// The original may not have looked at a poisoned step, or count.
Value *Finder::expand(const SCEV *expression, Instruction &at) {
    IRBuilder<> builder(&at);
    Type *i64 = builder.getInt64Ty();
    Value *value = expander.expandCodeFor(expression, expression->getType(), at.getIterator());
    if (value->getType()->isPointerTy())
        value = builder.CreatePtrToInt(value, i64);
    return isa<Constant>(value) ? value : builder.CreateFreeze(value);
}

void Finder::visit(Loop &loop) {
    // Fewer iterations are recorded faster one by one.
    constexpr unsigned fewest = 16;
    unsigned most = evolution.getSmallConstantMaxTripCount(&loop); // 0: not known
    std::vector<BasicBlock *> recorded;
    if (most > 0 && most < fewest)
        return;
    if (!loop.isInnermost() || !loop.getLoopPreheader() || !findBlocks(loop, recorded))
        return;
    const SCEV *iterations = iterationsOf(loop, recorded);
    if (!iterations)
        return;
    std::vector<Walk> walks;
    for (BasicBlock *block : recorded)
        for (Segment *segment : byBlock[block])
            for (Group &group : segment->groups)
                if (!findWalk(loop, group, walks.emplace_back()))
                    return;
    if (walks.size() > TC_STRIP_GROUPS)
        return;

    Instruction &at = *loop.getLoopPreheader()->getTerminator();
    auto isSafe = [&](const SCEV *expression) {
        return expander.isSafeToExpandAt(expression, &at);
    };
    if (!isSafe(iterations) || !llvm::all_of(walks, [&](const Walk &walk) {
            return isSafe(walk.start) && isSafe(walk.step);
        }))
        return;
    Strip &strip = strips.emplace_back();
    strip.at = &at;
    strip.blocks = loop.getBlocksVector();
    strip.iterations = expand(iterations, at);
    for (Walk &walk : walks)
        strip.groups.push_back(
            {std::move(*walk.group), expand(walk.start, at), expand(walk.step, at)});
    for (BasicBlock *block : recorded)
        for (Segment *segment : byBlock[block])
            segment->groups.clear();
}

void insertPreheaders(LoopAnalyses analyses) {
    for (Loop *loop : analyses.loops.getLoopsInPreorder())
        if (loop->isInnermost() && !loop->getLoopPreheader())
            InsertPreheaderForLoop(loop, &analyses.tree, &analyses.loops, nullptr, false);
}

namespace {

// tc_strip_group's pieces.
struct Pieces {
    unsigned shift, last, step;
};

} // namespace

// Pieces next to each other, each referred to alike: either all of them by one reference
// after the other (a vectorised loop, unrolled), or one piece after the other.
static std::optional<Pieces> findPieces(const Group &group, int64_t start, unsigned shift) {
    size_t count = group.size(), pieces = size_t(1) << shift, each = count >> shift;
    auto is = [&](bool alternating) {
        for (size_t i = 0; i < count; i++) {
            size_t piece = alternating ? i / each : i % pieces;
            const Reference &reference = group[i];
            const Reference &same = group[alternating ? i % each : i - piece];
            if (reference.bytes != group[0].bytes || reference.store != same.store ||
                reference.offset - start != int64_t(piece * reference.bytes))
                return false;
        }
        return true;
    };
    if (is(false))
        return Pieces{shift, unsigned(count - pieces), 1};
    if (is(true))
        return Pieces{shift, unsigned(each - 1), unsigned(each)};
    return std::nullopt;
}

void describeStripGroup(const Group &group, std::vector<uint16_t> &words) {
    int64_t start = group.front().offset, end = start;
    size_t count = group.size(), stores = 0;
    for (const Reference &reference : group) {
        start = std::min(start, reference.offset);
        end = std::max(end, reference.offset + int64_t(reference.bytes));
        stores += reference.store;
    }
    Pieces pieces{0, unsigned(count - 1), 0};
    for (unsigned shift = 1; count % (size_t(1) << shift) == 0; shift++)
        if (auto found = findPieces(group, start, shift))
            pieces = *found;
    for (uint64_t word :
         {uint64_t(end - start), count, count - stores, stores, uint64_t(pieces.shift),
          uint64_t(pieces.last), uint64_t(pieces.step), uint64_t(0)})
        words.push_back(uint16_t(word));
    for (const Reference &reference : group) {
        words.push_back(uint16_t(reference.offset - start));
        words.push_back(uint16_t(reference.bytes << 1 | reference.store));
    }
}

std::vector<Strip> findStrips(std::vector<Segment> &segments, LoopAnalyses analyses) {
    Finder finder(segments, analyses);
    for (Loop *loop : analyses.loops.getLoopsInPreorder())
        finder.visit(*loop);
    return std::move(finder.strips);
}

} // namespace thermocline
