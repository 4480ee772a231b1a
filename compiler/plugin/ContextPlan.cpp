// Enumerates (function, context) pairs and keeps them within the budget.
#include "ContextPlan.h"

using namespace llvm;

namespace thermocline {

static Frames limited(const Frames &first, const Frames &then, unsigned length) {
    Frames out(first);
    out.append(then.begin(), then.end());
    if (out.size() > length)
        out.resize(length);
    return out;
}

unsigned ContextPlan::target(const LeadingCall &call, const Frames &context) const {
    Frames key = limited(call.frames, context, length[call.callee]);
    return copyOf[call.callee].at(key);
}

namespace {

class Planner {
  public:
    Planner(const AllocationGraph &graph, uint64_t budget) : graph(graph), budget(budget) {
        for (const LeadingFunction &node : graph.functions)
            plan.length.push_back(node.notCopy.empty() ? node.need : 0);
    }

    ContextPlan make() {
        while (!withinBudget())
            cut();
        return std::move(plan);
    }

  private:
    // False if the copies exceed the budget.  An enumeration that is far beyond it
    // stops early: what it saw is enough to know where to cut.
    bool withinBudget() {
        plan.copies.clear();
        plan.copyOf.assign(graph.functions.size(), {});
        plan.growth = 0;
        next = 0;
        for (auto [i, node] : enumerate(graph.functions))
            if (node.isRoot)
                add(i, {});
        drain();
        // What no root reaches is dead, or a cycle on its own: it stays as it is.
        for (auto [i, node] : enumerate(graph.functions)) {
            if (plan.copyOf[i].empty()) {
                add(i, {});
                drain();
            }
        }
        return plan.growth <= budget;
    }

    void add(unsigned function, Frames context) {
        auto &known = plan.copyOf[function];
        auto [place, isNew] = known.try_emplace(std::move(context), plan.copies.size());
        if (!isNew)
            return;
        if (known.size() > 1)
            plan.growth += graph.functions[function].size;
        plan.copies.push_back({function, place->first});
    }

    void drain() {
        for (; next < plan.copies.size() && plan.growth <= 4 * budget; next++) {
            Copy copy = plan.copies[next];
            for (const LeadingCall &call : graph.functions[copy.function].calls)
                add(call.callee, limited(call.frames, copy.context, plan.length[call.callee]));
        }
    }

    uint64_t cost(unsigned function) const {
        size_t copies = plan.copyOf[function].size();
        return copies < 2 ? 0 : (copies - 1) * graph.functions[function].size;
    }

    // Takes a frame from the largest functions that were copied: each path that is
    // no longer told apart there saves the most.  So the small wrappers around an
    // allocator, where paths meet, keep their frames longest.  The last frame's loss
    // saves a function's whole cost, an earlier one's is assumed to halve it: enough
    // are taken for that to bring the sum down.
    void cut() {
        plan.wasCut = true;
        std::vector<unsigned> order;
        for (unsigned i = 0; i < graph.functions.size(); i++)
            if (plan.length[i] && cost(i))
                order.push_back(i);
        llvm::sort(order, [&](unsigned a, unsigned b) {
            return std::pair(graph.functions[b].size, a) < std::pair(graph.functions[a].size, b);
        });
        uint64_t saved = 0;
        for (unsigned i : order) {
            plan.length[i]--;
            saved += plan.length[i] ? (cost(i) + 1) / 2 : cost(i);
            if (saved + budget >= plan.growth)
                break;
        }
    }

    const AllocationGraph &graph;
    uint64_t budget;
    ContextPlan plan;
    size_t next = 0;
};

} // namespace

ContextPlan planContexts(const AllocationGraph &graph, uint64_t budget) {
    return Planner(graph, budget).make();
}

} // namespace thermocline
