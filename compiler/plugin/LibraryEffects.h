// What known library functions read and write, so that a twin can record it around
// the call: their own code is not annotated.
#pragma once
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstrTypes.h"

namespace thermocline {

struct LibraryFunction;

// The effects of the function that this call calls, or null.
const LibraryFunction *findLibraryEffects(const llvm::CallBase &);

// Records the effects: what is known before the call before it, the rest after it.
void recordLibraryEffects(llvm::CallBase &, const LibraryFunction &, llvm::Value *recorder);

} // namespace thermocline
