// See TwinsProducers.h.
#include "TwinsProducers.h"
#include "llvm/ADT/SmallPtrSet.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/IntrinsicInst.h"
#include <deque>

using namespace llvm;

namespace thermocline {

namespace {

struct Place {
    const Group *group;
    unsigned index;
};

// The value that is the address, or null where there are several.
const Value *addressOf(const Reference &reference) {
    if (const Value *pointer = getLoadStorePointerOperand(reference.instruction))
        return pointer;
    if (const auto *rmw = dyn_cast<AtomicRMWInst>(reference.instruction))
        return rmw->getPointerOperand();
    if (const auto *exchange = dyn_cast<AtomicCmpXchgInst>(reference.instruction))
        return exchange->getPointerOperand();
    return reference.base;
}

// Computed from its operands, and from nothing else that is of interest.
bool isComputed(const Instruction &instruction) {
    if (const auto *intrinsic = dyn_cast<IntrinsicInst>(&instruction))
        return intrinsic->doesNotAccessMemory();
    return isa<GetElementPtrInst, CastInst, BinaryOperator, SelectInst, PHINode, FreezeInst,
               ExtractElementInst, ExtractValueInst>(instruction);
}

SmallVector<Place, Producers::most> findLoads(const Value *address,
                                              const DenseMap<const Instruction *, Place> &loads) {
    constexpr unsigned far = 64; // values that are looked at
    SmallVector<Place, Producers::most> found;
    SmallPtrSet<const Value *, 16> seen;
    std::deque<const Value *> next{address};
    while (!next.empty() && seen.size() < far && found.size() < Producers::most) {
        const auto *instruction = dyn_cast<Instruction>(next.front());
        next.pop_front();
        if (!instruction || !seen.insert(instruction).second)
            continue;
        if (auto load = loads.find(instruction); load != loads.end()) {
            found.push_back(load->second);
            continue;
        }
        if (isComputed(*instruction))
            next.insert(next.end(), instruction->value_op_begin(), instruction->value_op_end());
    }
    return found;
}

} // namespace

Producers::Producers(ArrayRef<Segment> segments) {
    DenseMap<const Instruction *, Place> loads;
    for (const Segment &segment : segments)
        for (const Group &group : segment.groups)
            for (unsigned i = 0; i < group.size(); i++)
                if (!group[i].store && isa<LoadInst>(group[i].instruction))
                    loads[group[i].instruction] = {&group, i};
    for (const Segment &segment : segments)
        for (const Group &group : segment.groups)
            for (unsigned i = 0; i < group.size(); i++)
                for (const Place &load : findLoads(addressOf(group[i]), loads)) {
                    producers[&group].push_back({load.group, load.index, i});
                    for (const Group *each : {&group, load.group})
                        if (concerned.insert(each).second)
                            inOrder.push_back(each);
                }
}

ArrayRef<Producer> Producers::of(const Group &group) const {
    auto found = producers.find(&group);
    return found == producers.end() ? ArrayRef<Producer>() : ArrayRef<Producer>(found->second);
}

} // namespace thermocline
