// Makes the recording twins: a copy of each function that touches memory, which
// tells the recorder of every reference (docs/trace-profile.md).
#pragma once
#include "Options.h"
#include "llvm/IR/PassManager.h"

namespace thermocline {

struct TwinsPass : llvm::PassInfoMixin<TwinsPass> {
    Options options;
    explicit TwinsPass(Options options) : options(std::move(options)) {}
    llvm::PreservedAnalyses run(llvm::Module &, llvm::ModuleAnalysisManager &);
    static bool isRequired() { return true; }
};

} // namespace thermocline
