// Gives each allocation call its site, and the module its tables (runtime/abi.h).
#pragma once
#include "Options.h"
#include "llvm/IR/PassManager.h"

namespace thermocline {

struct AnnotatePass : llvm::PassInfoMixin<AnnotatePass> {
    Options options;
    explicit AnnotatePass(Options options) : options(std::move(options)) {}
    llvm::PreservedAnalyses run(llvm::Module &, llvm::ModuleAnalysisManager &);
    static bool isRequired() { return true; }
};

} // namespace thermocline
