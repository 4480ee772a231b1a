// Recording of what isn't one reference at one address: copies and fills, vectors of
// lanes, by-value arguments, and library calls.
#include "LibraryEffects.h"
#include "TwinsRecording.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/IntrinsicsX86.h"

using namespace llvm;

namespace thermocline {

// Instructions of the machine with lanes that a mask switches.  AVX's own masks are
// the sign bits of a vector.
enum class Shape { none, load, store, gather, scatter };

static Shape shapeOf(const IntrinsicInst &intrinsic) {
    switch (intrinsic.getIntrinsicID()) {
    case Intrinsic::x86_avx_maskload_pd:
    case Intrinsic::x86_avx_maskload_pd_256:
    case Intrinsic::x86_avx_maskload_ps:
    case Intrinsic::x86_avx_maskload_ps_256:
    case Intrinsic::x86_avx2_maskload_d:
    case Intrinsic::x86_avx2_maskload_d_256:
    case Intrinsic::x86_avx2_maskload_q:
    case Intrinsic::x86_avx2_maskload_q_256:
        return Shape::load;
    case Intrinsic::x86_avx_maskstore_pd:
    case Intrinsic::x86_avx_maskstore_pd_256:
    case Intrinsic::x86_avx_maskstore_ps:
    case Intrinsic::x86_avx_maskstore_ps_256:
    case Intrinsic::x86_avx2_maskstore_d:
    case Intrinsic::x86_avx2_maskstore_d_256:
    case Intrinsic::x86_avx2_maskstore_q:
    case Intrinsic::x86_avx2_maskstore_q_256:
    case Intrinsic::x86_sse2_maskmov_dqu:
        return Shape::store;
    default:
        break;
    }
    Function *callee = intrinsic.getCalledFunction();
    StringRef name = callee ? callee->getName() : "";
    if (name.starts_with("llvm.x86.avx2.gather.") ||
        name.starts_with("llvm.x86.avx512.mask.gather"))
        return Shape::gather;
    if (name.starts_with("llvm.x86.avx512.mask.scatter"))
        return Shape::scatter;
    return Shape::none;
}

bool isTargetMasked(const IntrinsicInst &intrinsic) { return shapeOf(intrinsic) != Shape::none; }

// A mask's lanes as the bits of a word.
static Value *maskBits(IRBuilder<> &builder, Value *mask) {
    auto *type = cast<FixedVectorType>(mask->getType());
    unsigned lanes = type->getNumElements();
    if (type->getElementType()->isFloatingPointTy())
        mask = builder.CreateBitCast(
            mask, FixedVectorType::get(builder.getIntNTy(type->getScalarSizeInBits()), lanes));
    if (!mask->getType()->getScalarType()->isIntegerTy(1))
        mask = builder.CreateICmpSLT(mask, Constant::getNullValue(mask->getType()));
    return builder.CreateZExt(builder.CreateBitCast(mask, builder.getIntNTy(lanes)),
                              builder.getInt64Ty());
}

static uint64_t laneBytesOf(const DataLayout &layout, Type *vector) {
    return layout.getTypeStoreSize(cast<VectorType>(vector)->getElementType()).getFixedValue();
}

void TwinsRecording::recordLanes(Instruction &at, Value *pointer, Value *bits, uint64_t laneBytes,
                                 bool store) {
    IRBuilder<> builder(&at);
    callRecorder(builder, module, "tc_record_lanes", builder.getVoidTy(),
                 {recorder, pointer, bits, builder.getInt64(laneBytes), builder.getInt64(store)});
}

void TwinsRecording::recordScattered(Instruction &at, Value *addresses, Value *bits,
                                     uint64_t laneBytes, bool store) {
    Type *type = addresses->getType();
    BasicBlock &entry = at.getFunction()->getEntryBlock();
    IRBuilder<> top(&entry, entry.begin());
    Value *lanes = top.CreateAlloca(type);
    IRBuilder<> builder(&at);
    builder.CreateStore(addresses, lanes);
    callRecorder(builder, module, "tc_record_scattered", builder.getVoidTy(),
                 {recorder, lanes, bits, builder.getInt64(laneBytes), builder.getInt64(store)});
}

bool TwinsRecording::recordMasked(IntrinsicInst &intrinsic) {
    IRBuilder<> builder(&intrinsic);
    auto addresses = [&](Value *pointers) {
        auto *type = cast<FixedVectorType>(pointers->getType());
        return builder.CreatePtrToInt(
            pointers, FixedVectorType::get(builder.getInt64Ty(), type->getNumElements()));
    };
    // The mask's place differs between versions of LLVM; it is the last vector of i1.
    Value *mask = nullptr;
    for (Value *argument : intrinsic.args())
        if (argument->getType()->isVectorTy() &&
            argument->getType()->getScalarType()->isIntegerTy(1))
            mask = argument;
    switch (intrinsic.getIntrinsicID()) {
    case Intrinsic::masked_load:
        recordLanes(intrinsic, intrinsic.getArgOperand(0), maskBits(builder, mask),
                    laneBytesOf(layout, intrinsic.getType()), false);
        return true;
    case Intrinsic::masked_store:
        recordLanes(intrinsic, intrinsic.getArgOperand(1), maskBits(builder, mask),
                    laneBytesOf(layout, intrinsic.getArgOperand(0)->getType()), true);
        return true;
    case Intrinsic::masked_gather:
        recordScattered(intrinsic, addresses(intrinsic.getArgOperand(0)), maskBits(builder, mask),
                        laneBytesOf(layout, intrinsic.getType()), false);
        return true;
    case Intrinsic::masked_scatter:
        recordScattered(intrinsic, addresses(intrinsic.getArgOperand(1)), maskBits(builder, mask),
                        laneBytesOf(layout, intrinsic.getArgOperand(0)->getType()), true);
        return true;
    case Intrinsic::masked_expandload:
    case Intrinsic::masked_compressstore: {
        bool store = intrinsic.getIntrinsicID() == Intrinsic::masked_compressstore;
        Type *vector = store ? intrinsic.getArgOperand(0)->getType() : intrinsic.getType();
        Value *pointer = intrinsic.getArgOperand(store ? 1 : 0);
        // As many lanes as are active, close together.  64 lanes at most, and the shift
        // by 64 of a full mask must give all ones.
        Value *active = builder.CreateUnaryIntrinsic(Intrinsic::ctpop, maskBits(builder, mask));
        Value *shift = builder.CreateSub(builder.getInt64(64), active);
        Value *ones = builder.CreateLShr(builder.getInt64(~uint64_t(0)),
                                         builder.CreateAnd(shift, builder.getInt64(63)));
        Value *bits = builder.CreateSelect(builder.CreateIsNull(active), builder.getInt64(0), ones);
        recordLanes(intrinsic, pointer, bits, laneBytesOf(layout, vector), store);
        return true;
    }
    default:
        return false;
    }
}

bool TwinsRecording::recordTargetMasked(IntrinsicInst &intrinsic) {
    IRBuilder<> builder(&intrinsic);
    auto argument = [&](unsigned i) { return intrinsic.getArgOperand(i); };
    Shape shape = shapeOf(intrinsic);
    switch (shape) {
    case Shape::none:
        return false;
    case Shape::load:
        recordLanes(intrinsic, argument(0), maskBits(builder, argument(1)),
                    laneBytesOf(layout, intrinsic.getType()), false);
        return true;
    case Shape::store: {
        bool bytes = intrinsic.getIntrinsicID() == Intrinsic::x86_sse2_maskmov_dqu;
        Value *pointer = argument(bytes ? 2 : 0), *mask = argument(1);
        recordLanes(intrinsic, pointer, maskBits(builder, mask),
                    laneBytesOf(layout, mask->getType()), true);
        return true;
    }
    case Shape::gather:
    case Shape::scatter: {
        // gather: (pass-through, base, index, mask, scale); scatter: (base, mask, index, value,
        // scale).
        bool store = shape == Shape::scatter;
        Value *base = argument(store ? 0 : 1), *mask = argument(store ? 1 : 3);
        auto *index = cast<FixedVectorType>(argument(2)->getType());
        Type *data = store ? argument(3)->getType() : intrinsic.getType();
        auto *wide = FixedVectorType::get(builder.getInt64Ty(), index->getNumElements());
        Value *scale = builder.CreateZExt(argument(4), builder.getInt64Ty());
        Value *addresses = builder.CreateAdd(
            builder.CreateVectorSplat(index->getNumElements(),
                                      builder.CreatePtrToInt(base, builder.getInt64Ty())),
            builder.CreateMul(builder.CreateSExt(argument(2), wide),
                              builder.CreateVectorSplat(index->getNumElements(), scale)));
        // The shorter of index and data tells how many lanes there are.
        Value *bits = maskBits(builder, mask);
        unsigned lanes =
            std::min(index->getNumElements(), cast<FixedVectorType>(data)->getNumElements());
        bits = builder.CreateAnd(bits, builder.getInt64(maskTrailingOnes<uint64_t>(lanes)));
        recordScattered(intrinsic, addresses, bits, laneBytesOf(layout, data), store);
        return true;
    }
    }
    return false;
}

void TwinsRecording::recordBulk(Instruction &instruction) {
    IRBuilder<> builder(&instruction);
    auto range = [&](Value *pointer, Value *bytes, bool store) {
        callRecorder(builder, module, store ? "tc_record_store" : "tc_record_load",
                     builder.getVoidTy(),
                     {recorder, pointer, builder.CreateZExtOrTrunc(bytes, builder.getInt64Ty())});
    };
    auto large = [&](Value *pointer, Type *type, bool store) {
        if (pointer->getType()->getPointerAddressSpace() == 0)
            range(pointer, builder.getInt64(layout.getTypeStoreSize(type)), store);
    };
    if (auto *load = dyn_cast<LoadInst>(&instruction))
        return large(load->getPointerOperand(), load->getType(), false);
    if (auto *store = dyn_cast<StoreInst>(&instruction))
        return large(store->getPointerOperand(), store->getValueOperand()->getType(), true);

    if (auto *intrinsic = dyn_cast<IntrinsicInst>(&instruction)) {
        if (auto *transfer = dyn_cast<AnyMemTransferInst>(intrinsic)) {
            if (transfer->getDestAddressSpace() == 0 && transfer->getSourceAddressSpace() == 0)
                callRecorder(
                    builder, module, "tc_record_copy", builder.getVoidTy(),
                    {recorder, transfer->getRawDest(), transfer->getRawSource(),
                     builder.CreateZExtOrTrunc(transfer->getLength(), builder.getInt64Ty())});
        } else if (auto *set = dyn_cast<AnyMemSetInst>(intrinsic)) {
            if (set->getDestAddressSpace() == 0)
                range(set->getRawDest(), set->getLength(), true);
        } else if (!recordMasked(*intrinsic)) {
            recordTargetMasked(*intrinsic);
        }
        return;
    }

    auto &call = cast<CallBase>(instruction);
    // The caller copies a by-value argument; where to, only the code generator knows.
    for (unsigned i = 0; i < call.arg_size(); i++)
        if (call.isByValArgument(i))
            range(call.getArgOperand(i),
                  builder.getInt64(layout.getTypeAllocSize(call.getParamByValType(i))), false);
    if (const LibraryFunction *effects = findLibraryEffects(call))
        recordLibraryEffects(call, *effects, recorder);
}

} // namespace thermocline
