#include "Contexts.h"
using namespace llvm;
namespace thermocline {
PreservedAnalyses ContextsPass::run(Module &, ModuleAnalysisManager &) {
    return PreservedAnalyses::all();
}
} // namespace thermocline
