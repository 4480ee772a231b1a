// Where a twin may change over, and what it looks at (TwinsVersions.h).
#include "Notes.h"
#include "TwinsVersions.h"
#include "trace/record.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/Analysis/ScalarEvolution.h"
#include "llvm/IR/CFG.h"
#include "llvm/IR/DebugInfoMetadata.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/Module.h"
#include "llvm/Transforms/Utils/BasicBlockUtils.h"

using namespace llvm;

namespace thermocline {

bool canChangeOver(const Function &function) {
    for (const BasicBlock &block : function) {
        if (block.hasAddressTaken() || isa<CallBrInst>(block.getTerminator()))
            return false;
        for (const Instruction &instruction : block) {
            if (instruction.getType()->isTokenTy())
                return false;
            if (const auto *call = dyn_cast<CallBase>(&instruction);
                call && call->hasFnAttr(Attribute::ReturnsTwice))
                return false;
        }
    }
    return true;
}

bool isLongCopy(const Instruction &instruction) {
    const auto *memory = dyn_cast<AnyMemIntrinsic>(&instruction);
    const auto *length = memory ? dyn_cast<ConstantInt>(memory->getLength()) : nullptr;
    return memory && !(length && length->getValue().ule(1 << TC_LINE_SHIFT));
}

// Of the program's code, in which time may pass.
bool isCallOfCode(const Instruction &instruction) {
    const auto *call = dyn_cast<CallBase>(&instruction);
    return call && !isa<IntrinsicInst>(call) && !call->isInlineAsm();
}

// How many values of other blocks each block can still use: counted for those in `live`.
static void countLive(Function &function, DenseMap<BasicBlock *, uint64_t> &live) {
    for (BasicBlock &block : function)
        for (Instruction &value : block) {
            SmallPtrSet<BasicBlock *, 16> seen{&block};
            SmallVector<BasicBlock *> left;
            auto reach = [&](BasicBlock *before) {
                if (seen.insert(before).second)
                    left.push_back(before);
            };
            for (Use &use : value.uses()) {
                auto *user = cast<Instruction>(use.getUser());
                auto *phi = dyn_cast<PHINode>(user);
                reach(phi ? phi->getIncomingBlock(use) : user->getParent());
            }
            while (!left.empty()) {
                BasicBlock *at = left.pop_back_val();
                if (auto found = live.find(at); found != live.end())
                    found->second++;
                for (BasicBlock *before : predecessors(at))
                    reach(before);
            }
        }
}

// Where versions meet, each value that lives there needs phis, about six in the end, and code that
// is a row of loop nests has thousands of values at hundreds of headers (hypre's PFMG set-up became
// 1.6 million instructions, half an hour in the register allocator).  So a function's phis may be
// as many as its instructions; the cheapest points, which are the outermost loops' mostly, come
// first.
static void limitPhis(Function &twin, std::vector<SwitchPoint> &points) {
    constexpr uint64_t always = 1024, phisOfValue = 6;
    DenseMap<BasicBlock *, uint64_t> live;
    for (const SwitchPoint &point : points)
        live[point.top->getSingleSuccessor()] = 0;
    countLive(twin, live);
    SmallVector<std::pair<uint64_t, SwitchPoint *>> byCost;
    for (SwitchPoint &point : points)
        byCost.emplace_back(live[point.top->getSingleSuccessor()], &point);
    llvm::sort(byCost); // of equal cost in the points' order, whose addresses rise
    uint64_t budget = std::max<uint64_t>(always, twin.getInstructionCount() / phisOfValue);
    for (auto [cost, point] : byCost) {
        point->changes = cost <= budget;
        budget -= std::min(cost, budget);
    }
}

std::vector<SwitchPoint> cutLoopHeaders(Function &twin, LoopInfo &loops,
                                        ScalarEvolution &evolution) {
    constexpr unsigned few = 16; // iterations that nobody needs to look between
    auto hasPoint = [&](Loop *loop) {
        unsigned most = evolution.getSmallConstantMaxTripCount(loop); // 0: not known
        return (most == 0 || most > few) && !loop->getHeader()->isEHPad();
    };
    std::vector<SwitchPoint> points;
    DenseMap<const Loop *, size_t> known;
    for (Loop *loop : loops.getLoopsInPreorder())
        if (hasPoint(loop)) {
            known[loop] = points.size();
            points.push_back({loop->getHeader(), 0, false});
        }
    for (BasicBlock &block : twin) {
        Loop *loop = loops.getLoopFor(&block);
        while (loop && !known.count(loop))
            loop = loop->getParentLoop();
        for (Loop *around = loop; around; around = around->getParentLoop())
            if (known.count(around) && any_of(block, isCallOfCode))
                points[known[around]].calls = true;
        if (loop)
            points[known[loop]].work += block.size();
    }
    for (SwitchPoint &point : points)
        SplitBlock(point.top, point.top->getFirstInsertionPt());
    limitPhis(twin, points);
    return points;
}

GlobalVariable *recordingWord(Module &module) {
    if (GlobalVariable *known = module.getGlobalVariable(recordingName, /*AllowInternal=*/true))
        return known;
    Type *i32 = Type::getInt32Ty(module.getContext());
    return new GlobalVariable(module, i32, false, GlobalValue::InternalLinkage,
                              ConstantInt::get(i32, 1), recordingName);
}

static Value *loadWord(IRBuilder<> &builder, Module &module) {
    return builder.CreateLoad(builder.getInt32Ty(), recordingWord(module), /*isVolatile=*/true);
}
Value *isRecording(IRBuilder<> &builder, Module &module) {
    return builder.CreateICmpEQ(loadWord(builder, module), builder.getInt32(TC_TWINS_RECORD));
}

void callUnlessRecording(Function &twin, Function &plain) {
    BasicBlock &first = twin.getEntryBlock();
    BasicBlock *entry = BasicBlock::Create(twin.getContext(), "", &twin, &first);
    BasicBlock *other = BasicBlock::Create(twin.getContext(), "", &twin);
    // Allocations of a fixed size belong into the entry.
    for (Instruction &instruction : make_early_inc_range(first))
        if (auto *alloca = dyn_cast<AllocaInst>(&instruction);
            alloca && isa<ConstantInt>(alloca->getArraySize()) && !alloca->isUsedWithInAlloca())
            alloca->moveBefore(*entry, entry->end());
    IRBuilder<> builder(entry);
    builder.CreateCondBr(isRecording(builder, *twin.getParent()), &first, other);
    builder.SetInsertPoint(other);
    SmallVector<Value *> arguments;
    for (Argument &argument : twin.args())
        arguments.push_back(&argument);
    if (DISubprogram *known = twin.getSubprogram())
        builder.SetCurrentDebugLocation(DILocation::get(twin.getContext(), 0, 0, known));
    CallInst *call = builder.CreateCall(&plain, arguments);
    call->setCallingConv(plain.getCallingConv());
    call->setAttributes(AttributeList::get(
        twin.getContext(), AttributeSet(), plain.getAttributes().getRetAttrs(), [&] {
            SmallVector<AttributeSet> sets;
            for (unsigned i = 0; i < plain.arg_size(); i++)
                sets.push_back(plain.getAttributes().getParamAttrs(i));
            return sets;
        }()));
    call->setTailCallKind(CallInst::TCK_MustTail);
    if (twin.getReturnType()->isVoidTy())
        builder.CreateRetVoid();
    else
        builder.CreateRet(call);
}

} // namespace thermocline
