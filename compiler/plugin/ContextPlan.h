// Decides, before any code is copied, which copies of which functions there will be.
#pragma once
#include "AllocationGraph.h"
#include <map>

namespace thermocline {

// One copy of a function: the one reached by these frames.
struct Copy {
    unsigned function; // index of its node
    Frames context;
};

struct ContextPlan {
    std::vector<Copy> copies;
    std::vector<std::map<Frames, unsigned>> copyOf; // node, context -> index in copies
    std::vector<unsigned> length;                   // frames told apart, by node
    uint64_t growth = 0;                            // instructions
    bool wasCut = false;

    // The copy that this call of this copy goes to.
    unsigned target(const LeadingCall &call, const Frames &context) const;
};

// Calling contexts as strings of at most `need` frames, found from the roots by a
// worklist, as in a k-limited control-flow analysis: the limit ends recursion.
// If the copies would cost more than `budget` instructions, the largest functions
// tell fewer frames apart until they don't.
ContextPlan planContexts(const AllocationGraph &graph, uint64_t budget);

} // namespace thermocline
