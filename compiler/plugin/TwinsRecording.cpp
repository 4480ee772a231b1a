// The recording in a twin's body: the inline test of the filter for each group of
// references, the calls for loops that are recorded as a whole, and the clock.
#include "TwinsRecording.h"
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

TwinsRecording::TwinsRecording(Module &module, bool findsStrips)
    : module(module), context(module.getContext()), layout(module.getDataLayout()),
      findsStrips(findsStrips) {}

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
    builder.CreateStore(builder.CreateLoad(builder.getInt64Ty(), recorder), clock);
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

// Turns the clock's variable into registers, and drops what that makes superfluous.
void TwinsRecording::finishClock(Function &twin) {
    for (BasicBlock &block : twin) {
        if (block.isLandingPad())
            readClock(block, block.getFirstInsertionPt());
        if (isa<ReturnInst, ResumeInst>(block.getTerminator()) &&
            !block.getTerminatingMustTailCall())
            writeClock(*block.getTerminator());
    }
    DominatorTree tree(twin);
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

// A tc_group up to its references, low halves first.
static std::vector<uint16_t> wordsOf(const Group &group, uint16_t producers) {
    int64_t start = group.front().offset, end = start;
    uint32_t loads = 0, stores = 0;
    for (const Reference &reference : group) {
        start = std::min(start, reference.offset);
        end = std::max(end, reference.offset + int64_t(reference.bytes));
        (reference.store ? stores : loads)++;
    }
    std::vector<uint16_t> words{uint16_t(group.size()), producers};
    for (uint32_t field : {loads, stores, uint32_t(end - start)}) {
        words.push_back(uint16_t(field));
        words.push_back(uint16_t(field >> 16));
    }
    for (const Reference &reference : group) {
        words.push_back(uint16_t(reference.offset - start));
        words.push_back(uint16_t(reference.bytes << 1 | reference.store));
    }
    return words;
}

GlobalVariable *TwinsRecording::describe(const Group &group) {
    if (GlobalVariable *own = ownDescriptions.lookup(&group))
        return own;
    return describe(wordsOf(group, 0), "thermocline.group");
}

// Producers name each other's descriptions, so all are made before any is filled.
void TwinsRecording::describe(const Producers &producers) {
    ownDescriptions.clear();
    Type *i16 = Type::getInt16Ty(context), *i32 = Type::getInt32Ty(context);
    StructType *entry = StructType::get(i32, i16, i16);
    for (const Group *group : producers.groups()) {
        size_t words = wordsOf(*group, 0).size(), count = producers.of(*group).size();
        Type *type = StructType::get(ArrayType::get(i16, words), ArrayType::get(entry, count));
        ownDescriptions[group] = makeDescription(type, nullptr, "thermocline.group");
    }
    for (const Group *group : producers.groups()) {
        GlobalVariable *own = ownDescriptions[group];
        auto address = [&](GlobalVariable *variable) {
            return ConstantExpr::getPtrToInt(variable, Type::getInt64Ty(context));
        };
        std::vector<Constant *> entries;
        for (const Producer &producer : producers.of(*group)) {
            Constant *distance =
                ConstantExpr::getSub(address(ownDescriptions[producer.group]), address(own));
            entries.push_back(ConstantStruct::get(
                entry, {ConstantExpr::getTrunc(distance, i32), ConstantInt::get(i16, producer.load),
                        ConstantInt::get(i16, producer.consumer)}));
        }
        std::vector<uint16_t> words = wordsOf(*group, uint16_t(entries.size()));
        auto *type = cast<StructType>(own->getValueType());
        own->setInitializer(ConstantStruct::get(
            type, {ConstantDataArray::get(context, words),
                   ConstantArray::get(cast<ArrayType>(type->getElementType(1)), entries)}));
    }
}

GlobalVariable *TwinsRecording::makeDescription(Type *type, Constant *value, StringRef name) {
    auto *description =
        new GlobalVariable(module, type, true, GlobalValue::PrivateLinkage, value, name);
    description->setSection("thermocline_groups");
    description->setAlignment(Align(4));
    return description;
}

GlobalVariable *TwinsRecording::describe(const std::vector<uint16_t> &words, StringRef name) {
    GlobalVariable *&description = descriptions[words];
    if (!description) {
        Constant *data = ConstantDataArray::get(context, words);
        description = makeDescription(data->getType(), data, name);
    }
    return description;
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
    CallInst *call = callRecorder(
        builder, module, "tc_record_group", builder.getVoidTy(),
        {recorder, address, describe(group), builder.CreateAdd(now, builder.getInt64(firstStamp))});
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

GlobalVariable *TwinsRecording::describe(const Strip &strip) {
    std::vector<uint16_t> groups;
    for (const StripGroup &group : strip.groups)
        describeStripGroup(group.references, groups);
    // tc_strip's words of 32 bits, low halves first.
    std::vector<uint16_t> words{uint16_t(strip.groups.size()), 0, uint16_t(strip.stamps),
                                uint16_t(strip.stamps >> 16)};
    words.insert(words.end(), groups.begin(), groups.end());
    return describe(words, "thermocline.strip");
}

void TwinsRecording::recordStrip(const Strip &strip) {
    IRBuilder<> builder(strip.at);
    Type *i64 = builder.getInt64Ty();
    for (auto [i, group] : enumerate(strip.groups)) {
        Value *start = builder.CreateConstGEP1_64(i64, walks, 2 * i);
        builder.CreateStore(group.start, start);
        builder.CreateStore(group.step, builder.CreateConstGEP1_64(i64, start, 1));
    }
    GlobalVariable *description = describe(strip);
    Value *now = builder.CreateLoad(i64, clock);
    callRecorder(builder, module, "tc_record_strip", builder.getVoidTy(),
                 {recorder, description, walks, strip.iterations, now});
    Value *taken = builder.CreateMul(strip.iterations, builder.getInt64(strip.stamps));
    builder.CreateStore(builder.CreateAdd(now, taken), clock);
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
void TwinsRecording::countInstructions(ArrayRef<Segment> segments, std::vector<Strip> &strips,
                                       Function &twin) {
    DenseMap<const BasicBlock *, uint64_t> taken;
    for (const Segment &segment : segments)
        for (const Group &group : segment.groups)
            taken[segment.block] += group.size();
    auto counted = [](const BasicBlock &block) {
        return uint64_t(llvm::count_if(block, isCounted));
    };
    advances.clear();
    SmallPtrSet<const BasicBlock *, 16> inStrips;
    for (Strip &strip : strips) {
        uint64_t references = 0, all = 0;
        for (const StripGroup &group : strip.groups)
            references += group.references.size();
        for (BasicBlock *block : strip.blocks) {
            all += counted(*block);
            inStrips.insert(block);
        }
        strip.stamps = TC_STAMPS_PER_REFERENCE * std::max(references, all);
    }
    for (BasicBlock &block : twin) {
        uint64_t all = counted(block), references = taken.lookup(&block);
        if (inStrips.contains(&block) || all <= references)
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

void TwinsRecording::insert(Function &twin, FunctionAnalysisManager &functions) {
    // Recording splits blocks and has loads of its own, so what is to be recorded is
    // found first.
    LoopAnalyses analyses{functions.getResult<DominatorTreeAnalysis>(twin),
                          functions.getResult<LoopAnalysis>(twin),
                          functions.getResult<ScalarEvolutionAnalysis>(twin)};
    if (findsStrips)
        insertPreheaders(analyses);
    std::vector<Segment> segments = findSegments(twin, analyses.evolution);
    std::vector<Strip> strips;
    if (findsStrips)
        strips = findStrips(segments, analyses);
    functions.clear(twin, twin.getName());
    countInstructions(segments, strips, twin);
    describe(Producers(segments));

    insertRecorder(twin);
    advanceClock();
    if (!strips.empty()) {
        size_t most = 0;
        for (const Strip &strip : strips)
            most = std::max(most, strip.groups.size());
        Type *type = ArrayType::get(Type::getInt64Ty(context), 2 * most);
        walks = new AllocaInst(type, layout.getAllocaAddrSpace(), "walks",
                               twin.getEntryBlock().begin());
    }
    for (Segment &segment : segments) {
        recordSegment(segment);
        // The clock is shared around the whole of what is recorded for a call.
        if (segment.end)
            shareClock(*segment.end);
        if (segment.bulk)
            recordBulk(*segment.end);
    }
    for (const Strip &strip : strips)
        recordStrip(strip);
    finishClock(twin);
}

} // namespace thermocline
