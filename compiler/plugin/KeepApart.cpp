// The mark is LLVM's own `nomerge`, on the call: it stops the merging of equal code
// and nothing else.  Calls that inlining brings in are marked in their own function.
#include "KeepApart.h"
#include "AllocationRoutines.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Module.h"

using namespace llvm;

namespace thermocline {

PreservedAnalyses KeepApartPass::run(Module &module, ModuleAnalysisManager &) {
    for (Function &function : module)
        for (Instruction &instruction : instructions(function))
            if (auto *call = dyn_cast<CallBase>(&instruction))
                if (allocationRoutine(*call))
                    call->addFnAttr(Attribute::NoMerge);
    return PreservedAnalyses::all();
}

} // namespace thermocline
