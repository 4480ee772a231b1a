// Which loads make the address of a reference: what tells a walk along a list from one over an
// array.  In `t[index[i]]` the load of `index` is a producer of the load of `t`.
//
// An argument is followed to the callers where all of them are known and direct; a call's result
// to what the function returns.  As with a phi, each of the loads counts that may have made it.
// Not in functions that call themselves: a trace asks when a load ran last in its thread, which in
// a walk down a tree is mostly in another node's frame.
#pragma once
#include "TwinsReferences.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/IR/Module.h"

namespace thermocline {

struct Producer {
    const Group *group; // that the load is recorded with
    unsigned load;      // which of its references
    unsigned consumer;  // which of this group's references
};

class Producers {
  public:
    // Of all twins of a module, before any of them is changed; `twins` by their plain functions,
    // which is what they still call.
    Producers(llvm::ArrayRef<llvm::ArrayRef<Segment>>,
              const llvm::DenseMap<llvm::Function *, llvm::Function *> &twins);
    // Of a group's references, in their order; at most `most` each, nearest first.
    llvm::ArrayRef<Producer> of(const Group &group) const;

    static constexpr unsigned most = 4;

  private:
    llvm::DenseMap<const Group *, std::vector<Producer>> producers;
};

} // namespace thermocline
