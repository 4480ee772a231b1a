// A twin tells when its function is entered and left, if a trace asks for it: what runs in a
// function, and in all that it calls, is a region of the trace.  Nobody asking costs a test on
// entry and one at each return.
//
// What leaves a function without returning (exceptions, longjmp) is told where it arrives.  The
// recorder knows by the frames' addresses which functions are left.
#include "Notes.h"
#include "SiteKey.h"
#include "TwinsRecording.h"
#include "abi.h"
#include "llvm/IR/Constants.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/MDBuilder.h"
#include "llvm/Transforms/Utils/BasicBlockUtils.h"

using namespace llvm;

namespace thermocline {

static constexpr uint64_t anyFunction = 0; // the table's first row

static StructType *rowType(LLVMContext &context) {
    static_assert(sizeof(tc_function) == 8 && offsetof(tc_function, watched) == 4);
    Type *i32 = Type::getInt32Ty(context);
    return StructType::get(i32, i32);
}

GlobalVariable *makeFunctions(Module &module, size_t twins) {
    auto *type = ArrayType::get(rowType(module.getContext()), twins + 1);
    auto *table = new GlobalVariable(module, type, false, GlobalValue::PrivateLinkage, nullptr,
                                     functionsName);
    table->setSection("thermocline_functions");
    table->setAlignment(Align(8));
    return table;
}

void TwinsRecording::fillFunctions() {
    auto *type = cast<ArrayType>(functions->getValueType());
    functionRows.insert(functionRows.begin(), ConstantAggregateZero::get(type->getElementType()));
    functions->setInitializer(ConstantArray::get(type, functionRows));
}

// The address of a row of the table.
static Constant *rowOf(GlobalVariable *functions, uint64_t function) {
    Type *i64 = Type::getInt64Ty(functions->getContext());
    Constant *index[] = {ConstantInt::get(i64, 0), ConstantInt::get(i64, function)};
    return ConstantExpr::getInBoundsGetElementPtr(functions->getValueType(), functions, index);
}

// Where code runs if the function is watched.
Instruction *TwinsRecording::ifWatched(Instruction &before, uint64_t function) {
    IRBuilder<> builder(&before);
    builder.SetCurrentDebugLocation(DebugLoc());
    Value *watched = builder.CreateConstGEP1_64(builder.getInt8Ty(), rowOf(functions, function),
                                                offsetof(tc_function, watched));
    Value *wanted = builder.CreateIsNotNull(builder.CreateLoad(builder.getInt32Ty(), watched));
    return SplitBlockAndInsertIfThen(wanted, &before, false,
                                     MDBuilder(context).createUnlikelyBranchWeights());
}

void TwinsRecording::tell(StringRef entry, Instruction &before, uint64_t function) {
    IRBuilder<> builder(&before);
    Value *frame =
        builder.CreateIntrinsic(Intrinsic::addressofreturnaddress, {builder.getPtrTy()}, {});
    Value *now = builder.CreateLoad(builder.getInt64Ty(), clock);
    callRecorder(builder, module, entry, builder.getVoidTy(),
                 {recorder, frame, rowOf(functions, function), now})
        ->addFnAttr(Attribute::Cold);
}

// The call that the function ends with, as `return f();` does and the machine may jump to.
static CallInst *tailCall(ReturnInst &end, const Value *recorder) {
    for (Instruction *at = end.getPrevNode(); at; at = at->getPrevNode()) {
        if (auto *call = dyn_cast<CallInst>(at); call && !isa<IntrinsicInst>(call)) {
            bool returned = !end.getReturnValue() || end.getReturnValue() == call;
            return call->isTailCall() && returned ? call : nullptr;
        }
        // Behind the call there may be the reading of the clock.
        const auto *load = dyn_cast<LoadInst>(at);
        if (!at->isDebugOrPseudoInst() && !isa<StoreInst>(at) &&
            !(load && load->getPointerOperand() == recorder))
            return nullptr;
    }
    return nullptr;
}

void TwinsRecording::leave(ReturnInst &end, uint64_t function) {
    CallInst *call = tailCall(end, recorder);
    if (!call || call->isMustTailCall()) {
        // What a musttail call runs is no longer in the function.
        Instruction &at = call ? static_cast<Instruction &>(*call) : end;
        tell("tc_record_leave", *ifWatched(at, function), function);
        return;
    }
    // It stays a tail call where nobody wants to know: deep recursion may depend on it.
    Instruction *jump = ifWatched(*call, function);
    auto *copy = cast<CallInst>(call->clone());
    copy->setTailCallKind(CallInst::TCK_None);
    copy->insertBefore(jump->getIterator());
    readClock(*copy->getParent(), jump->getIterator());
    tell("tc_record_leave", *jump, function);
    Value *result = end.getReturnValue() == call ? copy : end.getReturnValue();
    ReturnInst::Create(context, result, jump->getIterator());
    jump->eraseFromParent();
}

void TwinsRecording::recordRegion(Function &twin, const Function &plain) {
    uint64_t function = functionRows.size() + 1;
    Type *i32 = Type::getInt32Ty(context), *i64 = Type::getInt64Ty(context);
    GlobalVariable *name =
        positions.place(readableName(functionName(plain)), plain.getName().str());
    Constant *distance =
        ConstantExpr::getSub(ConstantExpr::getPtrToInt(name, i64),
                             ConstantExpr::getPtrToInt(rowOf(functions, function), i64));
    functionRows.push_back(ConstantStruct::get(
        rowType(context), {ConstantExpr::getTrunc(distance, i32), ConstantInt::get(i32, 0)}));

    SmallVector<ReturnInst *> ends;
    SmallVector<Instruction *> arrivals; // from frames below
    for (Instruction &instruction : instructions(twin)) {
        if (auto *end = dyn_cast<ReturnInst>(&instruction))
            ends.push_back(end);
        else if (isa<LandingPadInst>(instruction))
            arrivals.push_back(&*instruction.getParent()->getFirstInsertionPt());
        else if (auto *call = dyn_cast<CallInst>(&instruction);
                 call && call->hasFnAttr(Attribute::ReturnsTwice))
            arrivals.push_back(call->getNextNode());
    }
    for (ReturnInst *end : ends)
        leave(*end, function);
    for (Instruction *arrival : arrivals)
        tell("tc_record_arrive", *ifWatched(*arrival, anyFunction), anyFunction);
    tell("tc_record_enter", *ifWatched(*entered->getNextNode(), function), function);
}

} // namespace thermocline
