// Which calls allocate for their caller, and how each is annotated.
#pragma once
#include "llvm/ADT/StringRef.h"
#include "llvm/IR/InstrTypes.h"
#include <optional>

namespace thermocline {

enum class Kind {
    Entry, // the call goes to the runtime's own form, with the site as last argument
    Carry, // the library allocates inside: the site is carried across the call
};

struct AllocationRoutine {
    llvm::StringRef name; // as people know it, in the module's table
    Kind kind;
    llvm::StringRef entry; // Entry: the runtime's symbol
};

// The routine that this call allocates by.  Nothing if the module itself defines
// a function of that name: a program's own malloc is an ordinary function, whose
// own allocations are the sites.
std::optional<AllocationRoutine> allocationRoutine(const llvm::CallBase &call);

// A library function of which the runtime has a form of its own.
bool isEntryRoutine(const llvm::Function &function);

// Such a routine, of which a shared library has its own: its blocks may only go to
// the library's own free, so that calls of it stay as they are.
bool isPrivateRoutine(const llvm::Function &function);

// The function that a call surely goes to: direct, or by an alias that can't be
// replaced.  Null for anything else.
llvm::Function *directCallee(const llvm::CallBase &call);

} // namespace thermocline
