// Gives each allocation call one call path, by cloning the functions that lead
// to it (Olson et al. 2018, section IV.A).
#pragma once
#include "Options.h"
#include "llvm/IR/PassManager.h"

namespace thermocline {

struct ContextsPass : llvm::PassInfoMixin<ContextsPass> {
    Options options;
    explicit ContextsPass(Options options) : options(std::move(options)) {}
    llvm::PreservedAnalyses run(llvm::Module &, llvm::ModuleAnalysisManager &);
    static bool isRequired() { return true; }
};

} // namespace thermocline
