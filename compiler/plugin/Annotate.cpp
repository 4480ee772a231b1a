#include "Annotate.h"
using namespace llvm;
namespace thermocline {
PreservedAnalyses AnnotatePass::run(Module &, ModuleAnalysisManager &) {
    return PreservedAnalyses::all();
}
} // namespace thermocline
