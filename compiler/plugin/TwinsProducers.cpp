// See TwinsProducers.h.
#include "TwinsProducers.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/SCCIterator.h"
#include "llvm/ADT/SmallPtrSet.h"
#include "llvm/Analysis/CallGraph.h"
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

class Finder {
  public:
    explicit Finder(const DenseMap<Function *, Function *> &twins);
    DenseMap<const Instruction *, Place> loads;
    SmallVector<Place, Producers::most> find(const Value *address) const;

  private:
    using Values = std::deque<const Value *>;
    void addCallers(const Argument &, Values &) const;
    void addReturned(const CallBase &, Values &) const;

    const DenseMap<Function *, Function *> &twins;
    DenseMap<const Function *, Function *> plains;
    DenseSet<const Function *> recursive;
};

Finder::Finder(const DenseMap<Function *, Function *> &twins) : twins(twins) {
    for (auto [plain, twin] : twins)
        plains[twin] = plain;
    if (twins.empty())
        return;
    CallGraph calls(*twins.begin()->first->getParent());
    for (auto cycle = scc_begin(&calls); !cycle.isAtEnd(); ++cycle)
        if (cycle.hasCycle())
            for (const CallGraphNode *node : *cycle)
                recursive.insert(node->getFunction());
}

// What the callers pass, if nobody else can call.
void Finder::addCallers(const Argument &argument, Values &to) const {
    const Function *plain = plains.lookup(argument.getParent());
    if (!plain || !plain->hasLocalLinkage() || recursive.contains(plain))
        return;
    Values passed;
    for (const Use &use : plain->uses()) {
        const auto *call = dyn_cast<CallBase>(use.getUser());
        if (!call || !call->isCallee(&use) || argument.getArgNo() >= call->arg_size())
            return;
        if (plains.contains(call->getFunction()))
            passed.push_back(call->getArgOperand(argument.getArgNo()));
    }
    to.insert(to.end(), passed.begin(), passed.end());
}

void Finder::addReturned(const CallBase &call, Values &to) const {
    Function *callee = call.getCalledFunction();
    if (!callee || !(callee->hasLocalLinkage() || callee->isDSOLocal()) ||
        recursive.contains(callee))
        return;
    if (const Function *twin = twins.lookup(callee))
        for (const BasicBlock &block : *twin)
            if (const auto *end = dyn_cast<ReturnInst>(block.getTerminator()))
                if (const Value *value = end->getReturnValue())
                    to.push_back(value);
}

SmallVector<Place, Producers::most> Finder::find(const Value *address) const {
    constexpr unsigned far = 64; // values that are looked at
    SmallVector<Place, Producers::most> found;
    SmallPtrSet<const Value *, 16> seen;
    Values next{address};
    while (!next.empty() && seen.size() < far && found.size() < Producers::most) {
        const Value *value = next.front();
        next.pop_front();
        if (isa<Constant>(value) || !seen.insert(value).second)
            continue;
        if (const auto *argument = dyn_cast<Argument>(value))
            addCallers(*argument, next);
        const auto *instruction = dyn_cast<Instruction>(value);
        if (!instruction)
            continue;
        if (auto load = loads.find(instruction); load != loads.end())
            found.push_back(load->second);
        else if (const auto *call = dyn_cast<CallBase>(instruction);
                 call && !isa<IntrinsicInst>(call))
            addReturned(*call, next);
        else if (isComputed(*instruction))
            next.insert(next.end(), instruction->value_op_begin(), instruction->value_op_end());
    }
    return found;
}

// Calls visit(group) for each.
template <class Visit> void eachGroup(ArrayRef<ArrayRef<Segment>> twins, Visit visit) {
    for (ArrayRef<Segment> segments : twins)
        for (const Segment &segment : segments)
            for (const Group &group : segment.groups)
                visit(group);
}

} // namespace

Producers::Producers(ArrayRef<ArrayRef<Segment>> segments,
                     const DenseMap<Function *, Function *> &twins) {
    Finder finder(twins);
    eachGroup(segments, [&](const Group &group) {
        for (unsigned i = 0; i < group.size(); i++)
            if (!group[i].store && isa<LoadInst>(group[i].instruction))
                finder.loads[group[i].instruction] = {&group, i};
    });
    eachGroup(segments, [&](const Group &group) {
        for (unsigned i = 0; i < group.size(); i++)
            for (const Place &load : finder.find(addressOf(group[i])))
                producers[&group].push_back({load.group, load.index, i});
    });
}

ArrayRef<Producer> Producers::of(const Group &group) const {
    auto found = producers.find(&group);
    return found == producers.end() ? ArrayRef<Producer>() : ArrayRef<Producer>(found->second);
}

} // namespace thermocline
