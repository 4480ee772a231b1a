// The references of a twin, grouped, and the inline test of the filter for each group.
//
// A segment is a stretch of one basic block in which no other code of the program
// runs.  Its references with one base address and constant distances within a line's
// length make a group, recorded where the first of them stands: one test then serves
// them all.  The order of references that the cache model sees is that order.
#include "TwinsRecording.h"
#include "LibraryEffects.h"
#include "trace/record.h"
#include "llvm/ADT/MapVector.h"
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

// A copy or fill so short that it is like a load and a store.
static bool isSmall(const AnyMemIntrinsic &memory) {
    const auto *length = dyn_cast<ConstantInt>(memory.getLength());
    return length && length->getValue().ule(lineBytes);
}

// Bulk operations, the lanes of vectors and library calls: whatever isn't one
// reference at one address.
static bool isBulk(const Instruction &instruction) {
    const auto *call = dyn_cast<CallBase>(&instruction);
    if (!call || isa<CallBrInst>(call))
        return false;
    if (const auto *intrinsic = dyn_cast<IntrinsicInst>(call)) {
        switch (intrinsic->getIntrinsicID()) {
        case Intrinsic::masked_load:
        case Intrinsic::masked_store:
        case Intrinsic::masked_gather:
        case Intrinsic::masked_scatter:
        case Intrinsic::masked_expandload:
        case Intrinsic::masked_compressstore:
            return true;
        default:
            if (const auto *memory = dyn_cast<AnyMemIntrinsic>(intrinsic))
                return !isSmall(*memory);
            return isTargetMasked(*intrinsic);
        }
    }
    for (unsigned i = 0; i < call->arg_size(); i++)
        if (call->isByValArgument(i))
            return true;
    return findLibraryEffects(*call);
}

// Code of the program may run inside: a call of anything but an intrinsic.
static bool endsSegment(const Instruction &instruction) {
    const auto *call = dyn_cast<CallBase>(&instruction);
    return call && !isa<IntrinsicInst>(call) && !call->isInlineAsm();
}

static bool isReference(const Instruction &instruction) {
    return isa<LoadInst, StoreInst, AtomicRMWInst, AtomicCmpXchgInst, AnyMemIntrinsic>(instruction);
}

bool hasReferences(const Function &function) {
    for (const Instruction &instruction : instructions(function))
        if (isReference(instruction) || isBulk(instruction))
            return true;
    return false;
}

TwinsRecording::TwinsRecording(Module &module)
    : module(module), context(module.getContext()), layout(module.getDataLayout()) {}

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

void TwinsRecording::addReference(References &references, Instruction &instruction, Value *pointer,
                                  uint64_t bytes, Align align, bool store) {
    APInt offset(layout.getIndexTypeSizeInBits(pointer->getType()), 0);
    Value *base = pointer->stripAndAccumulateConstantOffsets(layout, offset, true);
    references.push_back({&instruction, base, offset.getSExtValue(), bytes, align, store});
}

void TwinsRecording::collect(Instruction &instruction, References &references) {
    auto addBytes = [&](Value *pointer, uint64_t bytes, Align align, bool load, bool store) {
        // Other address spaces are relative to fs or gs.  A swifterror value is no address.
        if (pointer->getType()->getPointerAddressSpace() != 0 || pointer->isSwiftError() || !bytes)
            return;
        if (load)
            addReference(references, instruction, pointer, bytes, align, false);
        if (store)
            addReference(references, instruction, pointer, bytes, align, true);
    };
    auto add = [&](Value *pointer, Type *type, Align align, bool load, bool store) {
        TypeSize bytes = layout.getTypeStoreSize(type);
        if (!bytes.isScalable())
            addBytes(pointer, bytes, align, load, store);
    };
    if (auto *load = dyn_cast<LoadInst>(&instruction))
        add(load->getPointerOperand(), load->getType(), load->getAlign(), true, false);
    else if (auto *store = dyn_cast<StoreInst>(&instruction))
        add(store->getPointerOperand(), store->getValueOperand()->getType(), store->getAlign(),
            false, true);
    else if (auto *rmw = dyn_cast<AtomicRMWInst>(&instruction))
        add(rmw->getPointerOperand(), rmw->getType(), rmw->getAlign(), true, true);
    else if (auto *exchange = dyn_cast<AtomicCmpXchgInst>(&instruction))
        // The machine's compare-and-exchange writes in either case.
        add(exchange->getPointerOperand(), exchange->getCompareOperand()->getType(),
            exchange->getAlign(), true, true);
    else if (auto *memory = dyn_cast<AnyMemIntrinsic>(&instruction); memory && isSmall(*memory)) {
        uint64_t bytes = cast<ConstantInt>(memory->getLength())->getZExtValue();
        if (auto *transfer = dyn_cast<AnyMemTransferInst>(memory))
            addBytes(transfer->getRawSource(), bytes, transfer->getSourceAlign().valueOrOne(), true,
                     false);
        addBytes(memory->getRawDest(), bytes, memory->getDestAlign().valueOrOne(), false, true);
    }
}

GlobalVariable *TwinsRecording::describe(ArrayRef<Reference> group) {
    int64_t start = group.front().offset, end = start;
    uint32_t loads = 0, stores = 0;
    for (const Reference &reference : group) {
        start = std::min(start, reference.offset);
        end = std::max(end, reference.offset + int64_t(reference.bytes));
        (reference.store ? stores : loads)++;
    }
    std::vector<uint16_t> words; // a tc_group, low halves first
    for (uint32_t field : {uint32_t(group.size()), loads, stores, uint32_t(end - start)}) {
        words.push_back(uint16_t(field));
        words.push_back(uint16_t(field >> 16));
    }
    for (const Reference &reference : group) {
        words.push_back(uint16_t(reference.offset - start));
        words.push_back(uint16_t(reference.bytes << 1 | reference.store));
    }
    GlobalVariable *&description = descriptions[words];
    if (!description) {
        Constant *data = ConstantDataArray::get(context, words);
        description = new GlobalVariable(module, data->getType(), true, GlobalValue::PrivateLinkage,
                                         data, "thermocline.group");
        description->setSection("thermocline_groups");
        description->setAlignment(Align(4));
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

void TwinsRecording::recordGroup(ArrayRef<Reference> group, Value *now, uint64_t firstStamp) {
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

void TwinsRecording::recordSegment(References &references) {
    if (references.empty())
        return;
    IRBuilder<> builder(references.front().instruction);
    Value *now = builder.CreateLoad(builder.getInt64Ty(), clock);
    builder.CreateStore(
        builder.CreateAdd(now, builder.getInt64(TC_STAMPS_PER_REFERENCE * references.size())),
        clock);

    // Windows over each base's references in order of distance; then groups by their
    // first reference, each in the program's order.
    MapVector<Value *, std::vector<size_t>> byBase;
    for (size_t i = 0; i < references.size(); i++)
        byBase[references[i].base].push_back(i);
    std::vector<std::vector<size_t>> groups;
    for (auto &[base, indices] : byBase) {
        llvm::stable_sort(indices, [&](size_t a, size_t b) {
            return references[a].offset < references[b].offset;
        });
        int64_t start = 0;
        bool open = false;
        for (size_t i : indices) {
            int64_t end = references[i].offset + int64_t(references[i].bytes);
            if (!open || end - start > int64_t(lineBytes)) {
                groups.emplace_back();
                start = references[i].offset;
                open = true;
            }
            groups.back().push_back(i);
        }
    }
    for (auto &group : groups)
        llvm::sort(group);
    llvm::sort(groups);

    uint64_t stamp = 0;
    for (const auto &group : groups) {
        References members;
        for (size_t i : group)
            members.push_back(references[i]);
        recordGroup(members, now, stamp);
        stamp += TC_STAMPS_PER_REFERENCE * members.size();
    }
    references.clear();
}

void TwinsRecording::insert(Function &twin) {
    // Recording splits blocks and has loads of its own, so what is to be recorded is
    // found first.
    struct Segment {
        References references;
        Instruction *end; // behind them, or null
        bool bulk;        // the end is to be recorded itself
    };
    std::vector<Segment> segments;
    for (BasicBlock &block : twin) {
        References references;
        for (Instruction &instruction : block) {
            bool bulk = isBulk(instruction);
            if (!bulk && !endsSegment(instruction)) {
                size_t before = references.size();
                collect(instruction, references);
                // A large aggregate or vector is a range, not a reference in a line.
                bulk = references.size() > before && references.back().bytes > lineBytes;
                if (bulk)
                    references.resize(before);
                else
                    continue;
            }
            segments.push_back({std::move(references), &instruction, bulk});
            references.clear();
        }
        segments.push_back({std::move(references), nullptr, false});
    }
    insertRecorder(twin);
    for (Segment &segment : segments) {
        recordSegment(segment.references);
        // The clock is shared around the whole of what is recorded for a call.
        if (segment.end)
            shareClock(*segment.end);
        if (segment.bulk)
            recordBulk(*segment.end);
    }
    finishClock(twin);
}

} // namespace thermocline
