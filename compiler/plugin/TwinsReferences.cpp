// Finds the references of a function and groups them.
//
// References of a segment at constant distances within a line's length make a group,
// recorded where the first of them stands: one test then serves them all.  The order of
// references that the cache model sees is that order.
#include "TwinsReferences.h"
#include "LibraryEffects.h"
#include "trace/record.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/Analysis/ScalarEvolution.h"
#include "llvm/Analysis/ScalarEvolutionExpressions.h"
#include "llvm/IR/InstIterator.h"

using namespace llvm;

namespace thermocline {

static constexpr uint64_t lineBytes = 1 << TC_LINE_SHIFT;

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

bool isToBeRecorded(const Function &function) {
    for (const Instruction &instruction : instructions(function))
        if (isReference(instruction) || isBulk(instruction) || endsSegment(instruction))
            return true;
    return false;
}

namespace {

class Finder {
  public:
    Finder(Function &function, ScalarEvolution &evolution)
        : layout(function.getDataLayout()), evolution(evolution) {}

    Segment findSegment(BasicBlock &block, BasicBlock::iterator &at);

  private:
    // A reference whose address is `key` plus a distance.
    struct Found {
        Reference reference;
        const SCEV *key;
        int64_t distance;
    };
    void collect(Instruction &);
    void add(Instruction &, Value *pointer, uint64_t bytes, Align, bool store);
    const SCEV *withoutConstant(const SCEV *, int64_t &constant);
    std::vector<Group> group();

    const DataLayout &layout;
    ScalarEvolution &evolution;
    std::vector<Found> found; // in the segment at hand
};

} // namespace

// The expression less its constant part, in a form that is the same for all addresses at
// constant distances from one another.
const SCEV *Finder::withoutConstant(const SCEV *expression, int64_t &constant) {
    if (const auto *number = dyn_cast<SCEVConstant>(expression)) {
        constant += number->getAPInt().getSExtValue();
        return evolution.getZero(expression->getType());
    }
    if (const auto *recurrence = dyn_cast<SCEVAddRecExpr>(expression)) {
        SmallVector<const SCEV *> operands(recurrence->operands());
        operands[0] = withoutConstant(operands[0], constant);
        return evolution.getAddRecExpr(operands, recurrence->getLoop(), SCEV::FlagAnyWrap);
    }
    if (const auto *sum = dyn_cast<SCEVAddExpr>(expression)) {
        SmallVector<const SCEV *> operands;
        for (const SCEV *operand : sum->operands())
            operands.push_back(isa<SCEVConstant, SCEVAddRecExpr>(operand)
                                   ? withoutConstant(operand, constant)
                                   : operand);
        return evolution.getAddExpr(operands);
    }
    return expression;
}

void Finder::add(Instruction &instruction, Value *pointer, uint64_t bytes, Align align,
                 bool store) {
    APInt offset(layout.getIndexTypeSizeInBits(pointer->getType()), 0);
    Value *base = pointer->stripAndAccumulateConstantOffsets(layout, offset, true);
    int64_t distance = 0;
    const SCEV *key = withoutConstant(evolution.getSCEV(pointer), distance);
    found.push_back(
        {{&instruction, base, offset.getSExtValue(), bytes, align, store}, key, distance});
}

void Finder::collect(Instruction &instruction) {
    auto addBytes = [&](Value *pointer, uint64_t bytes, Align align, bool load, bool store) {
        // Other address spaces are relative to fs or gs.  A swifterror value is no address.
        if (pointer->getType()->getPointerAddressSpace() != 0 || pointer->isSwiftError() || !bytes)
            return;
        if (load)
            this->add(instruction, pointer, bytes, align, false);
        if (store)
            this->add(instruction, pointer, bytes, align, true);
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

std::vector<Group> Finder::group() {
    // Windows over each key's references in order of distance; then groups by their first
    // reference, each in the program's order.
    MapVector<const SCEV *, std::vector<size_t>> byKey;
    for (size_t i = 0; i < found.size(); i++)
        byKey[found[i].key].push_back(i);
    std::vector<std::vector<size_t>> windows;
    for (auto &[key, indices] : byKey) {
        llvm::sort(indices, [&](size_t a, size_t b) {
            return std::pair(found[a].distance, a) < std::pair(found[b].distance, b);
        });
        int64_t start = 0;
        bool open = false;
        for (size_t i : indices) {
            int64_t end = found[i].distance + int64_t(found[i].reference.bytes);
            if (!open || end - start > int64_t(lineBytes)) {
                windows.emplace_back();
                start = found[i].distance;
                open = true;
            }
            windows.back().push_back(i);
        }
    }
    for (auto &window : windows)
        llvm::sort(window);
    llvm::sort(windows);

    std::vector<Group> groups;
    for (const auto &window : windows) {
        Group &group = groups.emplace_back();
        const Found &first = found[window.front()];
        for (size_t i : window) {
            Reference reference = found[i].reference;
            reference.base = first.reference.base;
            reference.offset = first.reference.offset + found[i].distance - first.distance;
            group.push_back(reference);
        }
    }
    found.clear();
    return groups;
}

// The segment that starts at `at`, which moves behind it.
Segment Finder::findSegment(BasicBlock &block, BasicBlock::iterator &at) {
    while (at != block.end()) {
        Instruction &instruction = *at++;
        bool bulk = isBulk(instruction);
        if (!bulk && !endsSegment(instruction)) {
            size_t before = found.size();
            collect(instruction);
            // A large aggregate or vector is a range, not a reference in a line.
            bulk = found.size() > before && found.back().reference.bytes > lineBytes;
            if (!bulk)
                continue;
            found.resize(before);
        }
        return {group(), &block, &instruction, bulk};
    }
    return {group(), &block, nullptr, false};
}

std::vector<Segment> findSegments(Function &function, ScalarEvolution &evolution) {
    Finder finder(function, evolution);
    std::vector<Segment> segments;
    for (BasicBlock &block : function)
        for (BasicBlock::iterator at = block.begin(); at != block.end();)
            segments.push_back(finder.findSegment(block, at));
    return segments;
}

} // namespace thermocline
