// Which loads make the address of a reference: what tells a walk along a list from one over an
// array.  In `t[index[i]]` the load of `index` is a producer of the load of `t`.
//
// Only within a function: what a caller or a callee loaded is not followed.
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
    explicit Producers(llvm::ArrayRef<Segment>);
    // Of a group's references, in their order; at most `most` each, nearest first.
    llvm::ArrayRef<Producer> of(const Group &group) const;
    // Whether the group has producers or a producer of another one.
    bool concern(const Group &group) const { return concerned.contains(&group); }
    llvm::ArrayRef<const Group *> groups() const { return inOrder; }

    static constexpr unsigned most = 4;

  private:
    llvm::DenseMap<const Group *, std::vector<Producer>> producers;
    llvm::SmallPtrSet<const Group *, 16> concerned;
    std::vector<const Group *> inOrder; // those that are concerned
};

} // namespace thermocline
