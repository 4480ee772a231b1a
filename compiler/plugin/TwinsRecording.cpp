// The recording in a twin's body: the inline test of the filter for each group of
// references, and the clock.
#include "TwinsRecording.h"
#include "Notes.h"
#include "trace/record.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/Analysis/ScalarEvolution.h"
#include "llvm/IR/Dominators.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/MDBuilder.h"
#include "llvm/Transforms/Utils/BasicBlockUtils.h"
#include "llvm/Transforms/Utils/PromoteMemToReg.h"

using namespace llvm;

namespace thermocline {

static constexpr uint64_t lineBytes = 1 << TC_LINE_SHIFT;

CallInst *callRecorder(IRBuilderBase &builder, Module &module, StringRef name, Type *result,
                       ArrayRef<Value *> arguments) {
    SmallVector<Type *> types;
    for (Value *argument : arguments)
        types.push_back(argument->getType());
    FunctionCallee callee =
        module.getOrInsertFunction(name, FunctionType::get(result, types, false));
    if (auto *function = dyn_cast<Function>(callee.getCallee())) {
        function->setCallingConv(CallingConv::PreserveAll);
        function->setDoesNotThrow();
        function->addFnAttr(Attribute::NonLazyBind);
    }
    CallInst *call = builder.CreateCall(callee, arguments);
    call->setCallingConv(CallingConv::PreserveAll);
    call->setDoesNotThrow();
    return call;
}

TwinsRecording::TwinsRecording(Module &module, size_t twins)
    : module(module), context(module.getContext()), layout(module.getDataLayout()),
      positions(module), functions(makeFunctions(module, twins)) {}

// The thread's recorder, read once on entry.
void TwinsRecording::insertRecorder(Function &twin) {
    Type *pointer = PointerType::getUnqual(context);
    auto *here = cast<GlobalVariable>(module.getOrInsertGlobal("tc_recorder_here", pointer));
    here->setThreadLocalMode(GlobalValue::InitialExecTLSModel);

    // Splitting the entry must leave its fixed-size allocas there: elsewhere they
    // would grow the stack each time.
    BasicBlock &entry = twin.getEntryBlock();
    BasicBlock::iterator top = entry.getFirstInsertionPt();
    while (isa<AllocaInst>(top) && cast<AllocaInst>(top)->isStaticAlloca())
        ++top;
    for (Instruction &instruction : make_early_inc_range(make_range(top, entry.end())))
        if (auto *alloca = dyn_cast<AllocaInst>(&instruction); alloca && alloca->isStaticAlloca())
            alloca->moveBefore(entry, top);

    IRBuilder<> builder(&entry, top);
    builder.SetCurrentDebugLocation(DebugLoc());
    Value *known = builder.CreateLoad(pointer, builder.CreateThreadLocalAddress(here));
    Instruction *make = SplitBlockAndInsertIfThen(builder.CreateIsNull(known), top, false,
                                                  MDBuilder(context).createUnlikelyBranchWeights());
    builder.SetInsertPoint(make);
    FunctionCallee maker = module.getOrInsertFunction("tc_recorder_make", pointer);
    CallInst *made = builder.CreateCall(maker);
    made->setDoesNotThrow();
    BasicBlock *rest = make->getSuccessor(0);
    builder.SetInsertPoint(rest, rest->begin());
    PHINode *phi = builder.CreatePHI(pointer, 2, "recorder");
    phi->addIncoming(known, &entry);
    phi->addIncoming(made, make->getParent());
    recorder = phi;

    // Between calls the clock stays in a register: made from this variable at the end.
    builder.SetInsertPoint(rest, rest->getFirstInsertionPt());
    clock =
        new AllocaInst(builder.getInt64Ty(), layout.getAllocaAddrSpace(), "clock", entry.begin());
    entered = builder.CreateStore(builder.CreateLoad(builder.getInt64Ty(), recorder), clock);
}

void TwinsRecording::writeClock(Instruction &before) {
    IRBuilder<> builder(&before);
    builder.CreateStore(builder.CreateLoad(builder.getInt64Ty(), clock), recorder);
}

void TwinsRecording::readClock(BasicBlock &block, BasicBlock::iterator where) {
    IRBuilder<> builder(&block, where);
    builder.CreateStore(builder.CreateLoad(builder.getInt64Ty(), recorder), clock);
}

// Whatever may record elsewhere finds the thread's clock in memory, and leaves it there.
void TwinsRecording::shareClock(Instruction &instruction) {
    writeClock(instruction);
    if (auto *invoke = dyn_cast<InvokeInst>(&instruction)) {
        BasicBlock *normal = invoke->getNormalDest();
        if (!normal->getSinglePredecessor())
            normal = SplitEdge(invoke->getParent(), normal);
        readClock(*normal, normal->getFirstInsertionPt());
    } else if (auto *call = dyn_cast<CallInst>(&instruction); !call || !call->isMustTailCall()) {
        readClock(*instruction.getParent(), std::next(instruction.getIterator()));
    }
}

void TwinsRecording::shareClockAtEnds(Function &twin) {
    for (BasicBlock &block : twin) {
        if (block.isLandingPad())
            readClock(block, block.getFirstInsertionPt());
        if (isa<ReturnInst, ResumeInst>(block.getTerminator()) &&
            !block.getTerminatingMustTailCall())
            writeClock(*block.getTerminator());
    }
}

// Turns the clock's variable into registers (and the plain version's of work, if there is one), and
// drops what that makes superfluous.
void TwinsRecording::finishClock(Function &twin, AllocaInst *left) {
    DominatorTree tree(twin);
    if (left)
        PromoteMemToReg({clock, left}, tree);
    else
        PromoteMemToReg({clock}, tree);
    for (Instruction &instruction : make_early_inc_range(instructions(twin)))
        if (auto *store = dyn_cast<StoreInst>(&instruction);
            store && store->getPointerOperand() == recorder) {
            auto *load = dyn_cast<LoadInst>(store->getValueOperand());
            if (load && load->getPointerOperand() == recorder)
                store->eraseFromParent();
        }
    for (Instruction &instruction : make_early_inc_range(instructions(twin)))
        if (auto *load = dyn_cast<LoadInst>(&instruction);
            load && load->getPointerOperand() == recorder && load->use_empty())
            load->eraseFromParent();
}

// True if the bytes from `start` to `end` (distances from the base) surely lie in one line.
static bool staysInLine(ArrayRef<Reference> group, int64_t start, int64_t end) {
    for (const Reference &reference : group) {
        uint64_t align = std::min(reference.align.value(), lineBytes);
        // `start` lies this far after a multiple of `align`.
        uint64_t phase = uint64_t(start - reference.offset) & (align - 1);
        if (phase + uint64_t(end - start) <= align)
            return true;
    }
    return false;
}

void TwinsRecording::recordGroup(const Group &group, Value *now, uint64_t firstStamp) {
    int64_t start = group.front().offset, end = start;
    uint64_t loads = 0, stores = 0;
    for (const Reference &reference : group) {
        start = std::min(start, reference.offset);
        end = std::max(end, reference.offset + int64_t(reference.bytes));
        (reference.store ? stores : loads)++;
    }
    Instruction *at = group.front().instruction;
    IRBuilder<> builder(at);
    Type *i8 = builder.getInt8Ty(), *i64 = builder.getInt64Ty();
    Value *address = builder.CreatePtrToInt(group.front().base, i64);
    if (start)
        address = builder.CreateAdd(address, builder.getInt64(uint64_t(start)));

    Value *line = builder.CreateLShr(address, TC_LINE_SHIFT);
    Value *hash = builder.CreateMul(builder.CreateTrunc(line, builder.getInt32Ty()),
                                    builder.getInt32(TC_FILTER_MULTIPLIER));
    Value *offset = builder.CreateAnd(builder.CreateLShr(hash, TC_HASH_SHIFT), TC_HASH_MASK);
    Value *entry = builder.CreateGEP(i8, recorder, builder.CreateZExt(offset, i64));
    Value *way = builder.CreateLoad(
        builder.getPtrTy(), builder.CreateConstGEP1_64(i8, entry, offsetof(tc_recorder, filter)));
    auto field = [&](uint64_t inWay) { return builder.CreateConstGEP1_64(i8, way, inWay); };
    Value *known = builder.CreateLoad(i64, field(offsetof(tc_way, line)));
    Value *hit;
    if (staysInLine(group, start, end)) {
        hit = builder.CreateICmpEQ(known, line);
    } else {
        Value *last = builder.CreateLShr(
            builder.CreateAdd(address, builder.getInt64(uint64_t(end - start - 1))), TC_LINE_SHIFT);
        hit = builder.CreateIsNull(
            builder.CreateOr(builder.CreateXor(known, line), builder.CreateXor(last, line)));
    }

    Instruction *then, *otherwise;
    SplitBlockAndInsertIfThenElse(hit, at->getIterator(), &then, &otherwise,
                                  MDBuilder(context).createLikelyBranchWeights());
    builder.SetInsertPoint(then);
    auto count = [&](uint64_t inWay, uint64_t n) {
        Value *counter = field(inWay);
        builder.CreateStore(
            builder.CreateAdd(builder.CreateLoad(i64, counter), builder.getInt64(n)), counter);
    };
    if (loads)
        count(offsetof(tc_way, loads), loads);
    if (stores)
        count(offsetof(tc_way, stores), stores);
    uint64_t lastStamp = firstStamp + TC_STAMPS_PER_REFERENCE * (group.size() - 1);
    builder.CreateStore(builder.CreateAdd(now, builder.getInt64(lastStamp)),
                        field(offsetof(tc_way, stamp)));

    builder.SetInsertPoint(otherwise);
    CallInst *call = callRecorder(builder, module, "tc_record_group", builder.getVoidTy(),
                                  {recorder, address, groupDescriptions.lookup(&group),
                                   builder.CreateAdd(now, builder.getInt64(firstStamp))});
    call->addFnAttr(Attribute::Cold);
}

void TwinsRecording::recordSegment(const Segment &segment) {
    if (segment.groups.empty())
        return;
    IRBuilder<> builder(segment.groups.front().front().instruction);
    Value *now = builder.CreateLoad(builder.getInt64Ty(), clock);
    uint64_t stamp = 0;
    for (const Group &group : segment.groups) {
        recordGroup(group, now, stamp);
        stamp += TC_STAMPS_PER_REFERENCE * group.size();
    }
    IRBuilder<> end(cast<Instruction>(now)->getNextNode());
    end.CreateStore(end.CreateAdd(now, end.getInt64(stamp)), clock);
}

// An instruction that becomes machine code, as far as that can be told here.
static bool isCounted(const Instruction &instruction) {
    if (isa<PHINode>(instruction) || instruction.isDebugOrPseudoInst() ||
        instruction.isLifetimeStartOrEnd())
        return false;
    if (const auto *cast = dyn_cast<CastInst>(&instruction))
        return !cast->isNoopCast(instruction.getDataLayout());
    return true;
}

// The clock counts instructions, TC_STAMPS_PER_REFERENCE stamps each, and never fewer than the
// references need: a trace says by it how far they are apart.
void TwinsRecording::countInstructions(const Found &found) {
    DenseMap<const BasicBlock *, uint64_t> taken;
    for (const Segment &segment : found.segments)
        for (const Group &group : segment.groups)
            taken[segment.block] += group.size();
    auto counted = [](const BasicBlock &block) {
        return uint64_t(llvm::count_if(block, isCounted));
    };
    advances.clear();
    SmallPtrSet<const BasicBlock *, 16> tops; // which have a jump that the program has not
    for (const SwitchPoint &point : found.points)
        tops.insert(point.top);
    for (BasicBlock &block : *found.twin) {
        uint64_t all = counted(block), references = taken.lookup(&block);
        if (all <= references || tops.contains(&block))
            continue;
        if (block.getFirstInsertionPt() == block.end())
            continue; // a catchswitch
        Instruction *first = &*block.getFirstInsertionPt();
        while (isa<AllocaInst>(first))
            first = first->getNextNode();
        advances[first] = TC_STAMPS_PER_REFERENCE * (all - references);
    }
}

void TwinsRecording::advanceClock() {
    for (auto [instruction, stamps] : advances) {
        IRBuilder<> builder(instruction);
        Value *now = builder.CreateLoad(builder.getInt64Ty(), clock);
        builder.CreateStore(builder.CreateAdd(now, builder.getInt64(stamps)), clock);
    }
}

void TwinsRecording::find(Function &twin, const Function &plain, Function *plainVersion,
                          FunctionAnalysisManager &analysisManager) {
    Found &found = all.emplace_back();
    found.twin = &twin;
    found.plain = &plain;
    found.plainVersion = plainVersion;
    if (!plainVersion) {
        found.points = cutLoopHeaders(twin, analysisManager.getResult<LoopAnalysis>(twin),
                                      analysisManager.getResult<ScalarEvolutionAnalysis>(twin));
        analysisManager.clear(twin, twin.getName());
    }
    found.segments = findSegments(twin, analysisManager.getResult<ScalarEvolutionAnalysis>(twin));
    analysisManager.clear(twin, twin.getName());
}

void TwinsRecording::noteCountingLoops() {
    unsigned loops = 0, functions = 0;
    for (const Found &found : all) {
        auto count = llvm::count_if(found.points, [](const SwitchPoint &p) { return !p.changes; });
        loops += unsigned(count);
        functions += count > 0;
    }
    if (loops)
        addTableNote(module, Twine(loops) + " loops of " + Twine(functions) +
                                 " large functions have no place where recording begins or ends");
}

void TwinsRecording::insert(const DenseMap<Function *, Function *> &twins) {
    std::vector<ArrayRef<Segment>> segments;
    for (const Found &found : all)
        segments.push_back(found.segments);
    describe(Producers(segments, twins));
    noteCountingLoops();
    for (Found &found : all)
        insert(found);
    fillFunctions();
}

void TwinsRecording::insert(Found &found) {
    Function &twin = *found.twin;
    std::vector<Segment> &segments = found.segments;
    std::unique_ptr<TwinsVersions> versions;
    if (!found.plainVersion)
        versions = std::make_unique<TwinsVersions>(twin, found.points);
    countInstructions(found);
    insertRecorder(twin);
    advanceClock();
    for (Segment &segment : segments) {
        recordSegment(segment);
        // The clock is shared around the whole of what is recorded for a call.
        if (segment.end)
            shareClock(*segment.end);
        if (segment.bulk)
            recordBulk(*segment.end);
    }
    recordRegion(twin, *found.plain);
    shareClockAtEnds(twin);
    if (versions) {
        finishClock(twin, versions->join(recorder, clock));
        versions->repairValues(recorder);
    } else {
        finishClock(twin, nullptr);
        callUnlessRecording(twin, *found.plainVersion);
    }
}

} // namespace thermocline
