// Guarded direct calls of allocators; IndirectCalls.h says why.
#include "IndirectCalls.h"
#include "AllocationRoutines.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/IR/Instructions.h"
#include "llvm/Transforms/Utils/CallPromotionUtils.h"

using namespace llvm;

namespace thermocline {
namespace {

// More functions than this of one type make it a type that says nothing about
// allocation (void *(void *), say), and a chain of compares that costs time.
constexpr size_t mostCandidates = 3;

using Candidates = MapVector<FunctionType *, SmallVector<Function *, 4>>;

bool addressTaken(const Function &function) {
    return function.hasAddressTaken(nullptr, /*IgnoreCallbackUses=*/true,
                                    /*IgnoreAssumeLikeCalls=*/true, /*IngoreLLVMUsed=*/true);
}

Candidates findCandidates(Module &module, const AllocationGraph &graph) {
    Candidates out;
    auto add = [&](Function &function) {
        FunctionType *type = function.getFunctionType();
        if (!type->isVarArg() && addressTaken(function))
            out[type].push_back(&function);
    };
    for (Function &function : module)
        if (function.isDeclarationForLinker() && isEntryRoutine(function))
            add(function);
    for (const LeadingFunction &node : graph.functions)
        // What allocates for its caller hands out a pointer.
        if (node.need && node.notCopy.empty() && node.function->getReturnType()->isPointerTy())
            add(*node.function);
    out.remove_if([](auto &entry) { return entry.second.size() > mostCandidates; });
    return out;
}

} // namespace

bool makeAllocatorCallsDirect(Module &module, const AllocationGraph &graph) {
    Candidates candidates = findCandidates(module, graph);
    SmallVector<CallBase *> calls;
    for (Function &function : module) {
        if (function.isDeclarationForLinker())
            continue;
        for (BasicBlock &block : function)
            for (Instruction &instruction : block)
                if (auto *call = dyn_cast<CallBase>(&instruction))
                    if (call->isIndirectCall() && !call->cannotDuplicate() &&
                        candidates.contains(call->getFunctionType()))
                        calls.push_back(call);
    }
    for (CallBase *call : calls) {
        for (Function *candidate : candidates[call->getFunctionType()]) {
            if (call->getCallingConv() != candidate->getCallingConv() ||
                !isLegalToPromote(*call, candidate))
                continue;
            // Nobody compared its address so far, and a linker may fold functions
            // of which that is said.
            candidate->setUnnamedAddr(GlobalValue::UnnamedAddr::None);
            promoteCallWithIfThenElse(*call, candidate);
        }
    }
    return !calls.empty();
}

} // namespace thermocline
