// Where references stand in the source, for the descriptions that a trace asks (tc_position).
#pragma once
#include "llvm/ADT/StringMap.h"
#include "llvm/IR/GlobalVariable.h"
#include "llvm/IR/Module.h"

namespace thermocline {

class TwinsPositions {
  public:
    explicit TwinsPositions(llvm::Module &module);
    // A tc_position in the description `in`.
    llvm::Constant *of(const llvm::Instruction &, llvm::GlobalVariable &in);
    llvm::StructType *type() const { return entry; }

    // Two strings, each with its NUL; once in the module.
    llvm::GlobalVariable *place(const std::string &first, const std::string &second);

  private:
    llvm::Module &module;
    llvm::StructType *entry;
    llvm::StringMap<llvm::GlobalVariable *> places; // each function of each file once
};

} // namespace thermocline
