// See TwinsVersions.h.
#include "TwinsVersions.h"
#include "trace/record.h"
#include "llvm/IR/Dominators.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/MDBuilder.h"
#include "llvm/IR/Module.h"
#include "llvm/Transforms/Utils/BasicBlockUtils.h"
#include "llvm/Transforms/Utils/Cloning.h"
#include "llvm/Transforms/Utils/SSAUpdaterBulk.h"

using namespace llvm;

namespace thermocline {

TwinsVersions::TwinsVersions(Function &twin, std::vector<SwitchPoint> points)
    : twin(twin), points(std::move(points)),
      holder(Function::Create(twin.getFunctionType(), GlobalValue::InternalLinkage, "",
                              twin.getParent())) {
    SmallVector<BasicBlock *> copies;
    for (BasicBlock &block : twin) {
        BasicBlock *copy = CloneBasicBlock(&block, map, ".plain", holder);
        map[&block] = copy;
        copies.push_back(copy);
    }
    // Variables of a fixed size are both versions'.
    for (Instruction &instruction : twin.getEntryBlock())
        if (auto *alloca = dyn_cast<AllocaInst>(&instruction); alloca && alloca->isStaticAlloca()) {
            cast<Instruction>(map[alloca])->eraseFromParent();
            map[alloca] = alloca;
        }
    remapInstructionsInBlocks(copies, map);
    for (Instruction &instruction : instructions(twin)) {
        auto *copy = cast<Instruction>(map[&instruction]);
        if (copy != &instruction && !instruction.getType()->isVoidTy())
            pairs.emplace_back(&instruction, copy);
        if (isCallOfCode(instruction) || isLongCopy(instruction))
            calls.emplace_back(&instruction, copy);
    }
}

TwinsVersions::~TwinsVersions() { assert(!holder && "join was not called"); }

// Work is taken off what may be left untold, so that one instruction counts it and says when
// it is time to look up.
void TwinsVersions::takeWork(Instruction &before, Value *work) {
    IRBuilder<> builder(&before);
    Value *now = builder.CreateLoad(builder.getInt64Ty(), left);
    builder.CreateStore(builder.CreateSub(now, work), left);
}

// The thread's tc_work.
static Value *countOf(IRBuilder<> &builder, Module &module) {
    auto *here = cast<GlobalVariable>(module.getOrInsertGlobal("tc_work_here", builder.getPtrTy()));
    here->setThreadLocalMode(GlobalValue::InitialExecTLSModel);
    return builder.CreateLoad(builder.getPtrTy(), builder.CreateThreadLocalAddress(here));
}

// What the plain version did goes to the thread's count.
void TwinsVersions::tellWork(Instruction &before) {
    IRBuilder<> builder(&before);
    Type *i64 = builder.getInt64Ty();
    Value *count = countOf(builder, *twin.getParent());
    Value *known = builder.CreateLoad(i64, count);
    Value *untold = builder.getInt64(TC_WORK_UNTOLD);
    Value *done = builder.CreateSub(untold, builder.CreateLoad(i64, left));
    told.push_back(builder.CreateStore(builder.CreateAdd(known, done), count));
    builder.CreateStore(untold, left);
}

// Whether that has come to where the next burst is to begin.
static Value *isDue(IRBuilder<> &builder, Module &module) {
    Type *i64 = builder.getInt64Ty();
    Value *count = countOf(builder, module);
    Value *due = builder.CreateConstGEP1_64(builder.getInt8Ty(), count, offsetof(tc_work, due));
    return builder.CreateICmpUGE(builder.CreateLoad(i64, count), builder.CreateLoad(i64, due));
}

// The recording version's goes there at once: a burst may end at any time.
static void countRecorded(Instruction &before, Value *recorder, Value *more) {
    IRBuilder<> builder(&before);
    Type *i64 = builder.getInt64Ty();
    Value *count = builder.CreateConstGEP1_64(builder.getInt8Ty(), recorder,
                                              offsetof(tc_recorder, recorded_work));
    builder.CreateStore(builder.CreateAdd(builder.CreateLoad(i64, count), more), count);
}

void TwinsVersions::makeEntry() {
    BasicBlock &entry = twin.getEntryBlock();
    auto *plain = cast<BasicBlock>(map[&entry]);
    BasicBlock::iterator top = entry.begin();
    while (isa<AllocaInst>(top) && cast<AllocaInst>(top)->isStaticAlloca())
        ++top;
    BasicBlock *recorded = SplitBlock(&entry, top);
    Type *i64 = Type::getInt64Ty(twin.getContext());
    left = new AllocaInst(i64, twin.getDataLayout().getAllocaAddrSpace(), "left", entry.begin());
    Instruction *jump = entry.getTerminator();
    IRBuilder<> builder(jump);
    builder.CreateStore(builder.getInt64(TC_WORK_UNTOLD), left);
    builder.CreateCondBr(isRecording(builder, *twin.getParent()), recorded, plain);
    jump->eraseFromParent();
}

void TwinsVersions::countWork(const SwitchPoint &point, Value *recorder) {
    auto *work = ConstantInt::get(Type::getInt64Ty(twin.getContext()), point.work);
    countRecorded(*point.top->getTerminator(), recorder, work);
    takeWork(*cast<BasicBlock>(map[point.top])->getTerminator(), work);
}

void TwinsVersions::joinPoint(const SwitchPoint &point, Value *recorder, AllocaInst *clock) {
    countWork(point, recorder);
    if (!point.changes)
        return;
    LLVMContext &context = twin.getContext();
    Module &module = *twin.getParent();
    BasicBlock *plainTop = cast<BasicBlock>(map[point.top]);
    BasicBlock *body = point.top->getSingleSuccessor();
    BasicBlock *plainBody = plainTop->getSingleSuccessor();
    MDNode *seldom = MDBuilder(context).createUnlikelyBranchWeights();

    BasicBlock *leave = BasicBlock::Create(context, "leave", &twin);
    IRBuilder<> builder(leave);
    builder.CreateStore(builder.CreateLoad(builder.getInt64Ty(), clock), recorder);
    builder.CreateStore(builder.getInt64(TC_WORK_UNTOLD), left);
    builder.CreateBr(plainBody);

    // It is time to look up.
    BasicBlock *look = BasicBlock::Create(context, "look", &twin);
    BasicBlock *enter = BasicBlock::Create(context, "enter", &twin);
    builder.SetInsertPoint(look);
    Value *wanted = builder.CreateOr(isDue(builder, module), isRecording(builder, module));
    Instruction *jump = builder.CreateCondBr(wanted, enter, plainBody);
    tellWork(*cast<Instruction>(look->begin()));
    builder.SetInsertPoint(enter);
    CallInst *made =
        builder.CreateCall(module.getOrInsertFunction("tc_recorder_enter", builder.getPtrTy()));
    made->setDoesNotThrow();
    builder.CreateStore(builder.CreateLoad(builder.getInt64Ty(), made), clock);
    builder.CreateBr(body);
    entered.emplace_back(enter, made);

    jump = point.top->getTerminator();
    builder.SetInsertPoint(jump);
    Value *ends = builder.CreateNot(isRecording(builder, module));
    builder.CreateCondBr(ends, leave, body, seldom);
    jump->eraseFromParent();

    jump = plainTop->getTerminator();
    builder.SetInsertPoint(jump);
    // A loop that calls may come by seldom: it looks for the word each time as well.
    Value *isWanted =
        builder.CreateICmpSLT(builder.CreateLoad(builder.getInt64Ty(), left), builder.getInt64(0));
    if (point.calls)
        isWanted = builder.CreateOr(isWanted, isRecording(builder, module));
    builder.CreateCondBr(isWanted, look, plainBody, seldom);
    jump->eraseFromParent();
}

// A copy or fill counts by the words that it moves, or its traffic would come out of nothing.
static Value *workOf(Instruction &call) {
    IRBuilder<> builder(&call);
    const auto *memory = dyn_cast<AnyMemIntrinsic>(&call);
    if (!memory)
        return builder.getInt64(TC_WORK_PER_CALL);
    Value *length = builder.CreateZExtOrTrunc(memory->getLength(), builder.getInt64Ty());
    return builder.CreateLShr(length, TC_WORK_WORD_SHIFT);
}

void TwinsVersions::countCalls(Value *recorder) {
    for (auto &[call, copy] : calls) {
        takeWork(*copy, workOf(*copy));
        if (cast<CallBase>(copy)->doesNotReturn())
            tellWork(*copy);
        if (call)
            countRecorded(*cast<Instruction>(call), recorder, workOf(*cast<Instruction>(call)));
    }
}

// Where a function's work is told at the latest: before a call that it ends with, as that may
// become a jump.
static Instruction *lastPlace(BasicBlock &block) {
    Instruction *end = block.getTerminator();
    if (CallInst *call = block.getTerminatingMustTailCall())
        return call;
    if (isa<ResumeInst>(end))
        return end;
    auto *result = dyn_cast<ReturnInst>(end);
    if (!result)
        return nullptr;
    auto *call = dyn_cast_or_null<CallInst>(end->getPrevNode());
    bool isLast = call && call->isTailCall() &&
                  (!result->getReturnValue() || result->getReturnValue() == call);
    return isLast ? call : end;
}

AllocaInst *TwinsVersions::join(Value *recorder, AllocaInst *clock) {
    SmallVector<Instruction *> ends;
    for (BasicBlock &block : *holder)
        if (Instruction *place = lastPlace(block))
            ends.push_back(place);
    twin.splice(twin.end(), holder);
    holder->eraseFromParent();
    holder = nullptr;
    makeEntry();
    for (const SwitchPoint &point : points)
        joinPoint(point, recorder, clock);
    countCalls(recorder);
    for (Instruction *end : ends)
        tellWork(*end);
    return left;
}

// Uses of a value in other blocks than its own, where the other version's may arrive as well.
static void addUses(SSAUpdaterBulk &updater, unsigned variable, Instruction &value) {
    for (Use &use : value.uses()) {
        auto *user = cast<Instruction>(use.getUser());
        const auto *phi = dyn_cast<PHINode>(user);
        if ((phi ? phi->getIncomingBlock(use) : user->getParent()) != value.getParent())
            updater.AddUse(variable, &use);
    }
}

// Behind a function's last call there is mostly nothing to tell.
void TwinsVersions::dropIdleTelling() {
    for (StoreInst *store : told) {
        auto *sum = cast<BinaryOperator>(store->getValueOperand());
        auto *done = cast<BinaryOperator>(sum->getOperand(1));
        if (done->getOperand(0) != done->getOperand(1))
            continue;
        SmallVector<Value *> rest{sum, sum->getOperand(0), done, store->getPointerOperand()};
        store->eraseFromParent();
        for (Value *value : rest)
            cast<Instruction>(value)->eraseFromParent();
    }
}

void TwinsVersions::repairValues(Value *recorder) {
    dropIdleTelling();
    if (none_of(points, [](const SwitchPoint &point) { return point.changes; }))
        return; // what a version begins with, it ends with
    SSAUpdaterBulk updater;
    auto add = [&](Instruction &value) {
        unsigned variable = updater.AddVariable(value.getName(), value.getType());
        updater.AddAvailableValue(variable, value.getParent(), &value);
        addUses(updater, variable, value);
        return variable;
    };
    for (auto &[value, copy] : pairs) {
        if (!value)
            continue;
        unsigned variable = add(*cast<Instruction>(value));
        updater.AddAvailableValue(variable, copy->getParent(), copy);
        addUses(updater, variable, *copy);
    }
    unsigned variable = add(*cast<Instruction>(recorder));
    for (auto [block, value] : entered)
        updater.AddAvailableValue(variable, block, value);
    DominatorTree tree(twin);
    updater.RewriteAllUses(&tree);
}

} // namespace thermocline
