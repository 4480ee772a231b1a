// Copies functions as the plan says, and sends each call to the right copy.
#include "Contexts.h"
#include "AllocationGraph.h"
#include "ContextPlan.h"
#include "IndirectCalls.h"
#include "Notes.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/IR/Module.h"
#include "llvm/Transforms/Utils/Cloning.h"

using namespace llvm;

namespace thermocline {
namespace {

// Measured in docs/sites-and-contexts.md.
constexpr unsigned defaultBudgetPercent = 300;
constexpr uint64_t smallestBudget = 20000; // instructions; lets small programs have it all

// A copy in being: the function, and its calls in the order of the node's calls.
struct Made {
    Function *function;
    std::vector<CallBase *> calls;
};

Function *copyFunction(Function &original, unsigned number, ValueToValueMapTy &map) {
    Function *copy = CloneFunction(&original, map);
    copy->setName(original.getName() + ".tc" + Twine(number));
    copy->setLinkage(GlobalValue::InternalLinkage);
    copy->setVisibility(GlobalValue::DefaultVisibility);
    copy->setDLLStorageClass(GlobalValue::DefaultStorageClass);
    copy->setDSOLocal(true);
    copy->setComdat(nullptr);
    // Only its address would need these, and nobody takes it.
    copy->eraseMetadata(LLVMContext::MD_type);
    copy->eraseMetadata(LLVMContext::MD_kcfi_type);
    return copy;
}

class Materialiser {
  public:
    Materialiser(const AllocationGraph &graph, const ContextPlan &plan, FrameTable &frames)
        : graph(graph), plan(plan), frames(frames) {}

    void run() {
        // All bodies are copied before any call is redirected: each copy is made
        // from the function as it was.
        made.resize(plan.copies.size());
        for (unsigned i = 0; i < graph.functions.size(); i++)
            makeCopies(i);
        for (auto [copy, function] : zip(plan.copies, made))
            redirect(copy, function);
    }

  private:
    // The original serves callers that we can't see, if there can be any.  Their
    // copy came first in the plan, since they are where it started.
    void makeCopies(unsigned index) {
        const LeadingFunction &node = graph.functions[index];
        std::vector<unsigned> copies;
        for (auto &[context, copy] : plan.copyOf[index])
            copies.push_back(copy);
        llvm::sort(copies);
        for (auto [number, copy] : enumerate(copies)) {
            ValueToValueMapTy map;
            Function *function = node.function;
            if (number)
                function = copyFunction(*node.function, number, map);
            made[copy].function = function;
            for (const LeadingCall &call : node.calls)
                made[copy].calls.push_back(number ? cast<CallBase>(map[call.call]) : call.call);
            SmallVector<StringRef> texts;
            for (FrameId frame : plan.copies[copy].context)
                texts.push_back(frames.text(frame));
            // Copies of the original must not inherit its context: set it last.
            contexts.push_back({function, texts});
        }
        for (auto &[function, texts] : contexts)
            if (!texts.empty())
                setContext(*function, texts);
        contexts.clear();
    }

    void redirect(const Copy &copy, const Made &from) {
        const LeadingFunction &node = graph.functions[copy.function];
        for (auto [call, place] : zip(node.calls, from.calls)) {
            Function *target = made[plan.target(call, copy.context)].function;
            if (target != graph.functions[call.callee].function)
                place->setOperand(call.operand, target);
        }
    }

    const AllocationGraph &graph;
    const ContextPlan &plan;
    FrameTable &frames;
    std::vector<Made> made;
    std::vector<std::pair<Function *, SmallVector<StringRef>>> contexts;
};

bool isCalled(const AllocationGraph &graph, unsigned index) {
    return any_of(graph.functions, [&](const LeadingFunction &node) {
        return any_of(node.calls, [&](const LeadingCall &call) { return call.callee == index; });
    });
}

void noteWhatCouldNotBeCopied(Module &module, const AllocationGraph &graph) {
    for (auto [i, node] : enumerate(graph.functions))
        if (!node.notCopy.empty() && node.need && isCalled(graph, i))
            addNote(module, "no contexts through " + functionName(*node.function) +
                                ": it can't be copied (" + node.notCopy + ")");
}

void noteWhatWasCut(Module &module, const AllocationGraph &graph, const ContextPlan &plan,
                    uint64_t budget) {
    constexpr unsigned named = 5;
    std::vector<std::string> cut;
    for (auto [node, length] : zip(graph.functions, plan.length)) {
        if (!node.notCopy.empty() || length >= node.need)
            continue;
        cut.push_back(functionName(*node.function) + " (" + utostr(length) + " of " +
                      utostr(node.need) + ")");
        addTableNote(module, "context cut by the budget: " + cut.back());
    }
    std::string list = join(ArrayRef(cut).take_front(named), ", ");
    if (cut.size() > named)
        list += " and " + utostr(cut.size() - named) + " more, named in the program's table";
    addNote(module, "contexts would grow the program beyond the budget of " + utostr(budget) +
                        " instructions: fewer callers are told apart for " + list +
                        "; raise the budget or lower the context to change that");
}

} // namespace

PreservedAnalyses ContextsPass::run(Module &module, ModuleAnalysisManager &) {
    FrameTable frames;
    AllocationGraph graph = makeAllocationGraph(module, options.context, frames);
    if (makeAllocatorCallsDirect(module, graph))
        graph = makeAllocationGraph(module, options.context, frames);
    unsigned percent = options.budget ? options.budget : defaultBudgetPercent;
    uint64_t budget = std::max(smallestBudget, graph.moduleSize * percent / 100);
    if (options.budget)
        budget = graph.moduleSize * percent / 100;
    ContextPlan plan = planContexts(graph, budget);
    noteWhatCouldNotBeCopied(module, graph);
    if (plan.wasCut)
        noteWhatWasCut(module, graph, plan, budget);
    Materialiser(graph, plan, frames).run();
    return PreservedAnalyses::none();
}

} // namespace thermocline
