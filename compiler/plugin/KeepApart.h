// Marks allocation calls so that the optimiser never makes one call of two.
//
//   p = hot ? malloc(n) : malloc(m);     // two sites, but one call after -O2
//
// Runs at compile time, before all optimisation; at the link it is too late.
#pragma once
#include "llvm/IR/PassManager.h"

namespace thermocline {

struct KeepApartPass : llvm::PassInfoMixin<KeepApartPass> {
    llvm::PreservedAnalyses run(llvm::Module &, llvm::ModuleAnalysisManager &);
    static bool isRequired() { return true; }
};

} // namespace thermocline
