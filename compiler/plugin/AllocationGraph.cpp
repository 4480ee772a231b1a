// Finds the functions from which an allocation call can be reached, the calls
// between them, and how many caller frames each still needs.
#include "AllocationGraph.h"
#include "AllocationRoutines.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/SmallPtrSet.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/IR/AbstractCallSite.h"
#include "llvm/IR/Constants.h"
#include "llvm/IR/GlobalAlias.h"
#include "llvm/IR/InlineAsm.h"
#include "llvm/IR/Instructions.h"

using namespace llvm;

namespace thermocline {
namespace {

// Library functions that call an argument back, for which clang gives no
// !callback.  An OpenMP task's entry and a thread's start are called later and
// from elsewhere, but a person means the place where the task or thread was made.
struct Callback {
    StringLiteral library;
    unsigned argument;
};

constexpr Callback callbacks[] = {
    {"__kmpc_omp_task_alloc", 5}, {"pthread_create", 2}, {"pthread_once", 1}, {"thrd_create", 1},
    {"GOMP_parallel", 0},         {"GOMP_task", 0},      {"qsort", 3},        {"bsearch", 4},
};

struct Target {
    unsigned operand;
    Function *callee;
};

SmallVector<Target, 2> targets(CallBase &call) {
    SmallVector<Target, 2> out;
    auto add = [&](const Use &use, Value *value) {
        auto *callee = dyn_cast_or_null<Function>(value);
        if (callee && !callee->isDeclarationForLinker())
            out.push_back({use.getOperandNo(), callee});
    };
    Function *callee = directCallee(call);
    add(call.getCalledOperandUse(), callee);
    SmallVector<const Use *, 4> known;
    AbstractCallSite::getCallbackUses(call, known);
    for (const Use *use : known)
        add(*use, use->get()->stripPointerCasts());
    if (!known.empty() || !callee || !callee->isDeclarationForLinker())
        return out;
    for (const Callback &callback : callbacks) {
        if (callee->getName() == callback.library && call.arg_size() > callback.argument) {
            const Use &use = call.getArgOperandUse(callback.argument);
            add(use, use.get()->stripPointerCasts());
        }
    }
    return out;
}

// Every use is a call that we follow, or an alias that only such calls use.
bool allCallersKnown(const GlobalValue &value) {
    if (!value.hasLocalLinkage())
        return false;
    for (const Use &use : value.uses()) {
        if (auto *alias = dyn_cast<GlobalAlias>(use.getUser())) {
            if (!allCallersKnown(*alias))
                return false;
            continue;
        }
        auto *call = dyn_cast<CallBase>(use.getUser());
        if (!call)
            return false;
        bool followed = any_of(targets(const_cast<CallBase &>(*call)), [&](const Target &target) {
            return target.operand == use.getOperandNo();
        });
        if (!followed)
            return false;
    }
    return true;
}

// A table of label addresses (computed goto) would keep pointing into the
// original; label addresses used by the function's own instructions are copied.
bool labelsEscape(const Function &function) {
    for (const BasicBlock &block : function) {
        if (!block.hasAddressTaken())
            continue;
        const auto *address = BlockAddress::lookup(&block);
        if (!address)
            continue;
        for (const User *user : address->users()) {
            auto *instruction = dyn_cast<Instruction>(user);
            if (!instruction || instruction->getFunction() != &function)
                return true;
        }
    }
    return false;
}

// Assembly that defines a symbol can't be there twice.  Local labels ("1:",
// ".Lx${:uid}:") can.
bool definesSymbol(const InlineAsm &assembly) {
    SmallVector<StringRef> lines;
    StringRef(assembly.getAsmString()).split(lines, '\n');
    return any_of(lines, [](StringRef line) {
        auto [label, rest] = line.ltrim().split(':');
        return label.size() < line.ltrim().size() && !label.empty() && !isDigit(label[0]) &&
               !label.contains('$') &&
               all_of(label, [](char c) { return isAlnum(c) || c == '_' || c == '.'; });
    });
}

StringRef whyNotCopy(const Function &function) {
    if (function.isInterposable())
        return "another definition may replace it at run time";
    if (function.hasFnAttribute(Attribute::Naked))
        return "it is naked";
    if (function.isPresplitCoroutine())
        return "it is a coroutine that is not split yet";
    if (labelsEscape(function))
        return "a static table holds addresses of its labels";
    for (const BasicBlock &block : function) {
        for (const Instruction &instruction : block) {
            auto *call = dyn_cast<CallBase>(&instruction);
            if (!call)
                continue;
            if (call->cannotDuplicate())
                return "it has a call that must not be duplicated";
            if (auto *assembly = dyn_cast<InlineAsm>(call->getCalledOperand()))
                if (definesSymbol(*assembly))
                    return "its inline assembly defines a symbol";
        }
    }
    return "";
}

struct Scan {
    bool allocates = false;
    unsigned need = 0; // for its own allocation calls
    std::vector<std::pair<CallBase *, Target>> calls;
};

unsigned missing(unsigned wanted, size_t have) {
    return have < wanted ? wanted - static_cast<unsigned>(have) : 0;
}

class Builder {
  public:
    Builder(Module &module, unsigned context, FrameTable &frames)
        : module(module), wanted(context + 1), frames(frames) {}

    AllocationGraph build() {
        for (Function &function : module)
            if (!function.isDeclarationForLinker())
                scan(function);
        findLeading();
        makeNodes();
        findNeeds();
        return std::move(graph);
    }

  private:
    void scan(Function &function) {
        Scan &scanned = scans[&function];
        graph.moduleSize += function.getInstructionCount();
        for (BasicBlock &block : function) {
            for (Instruction &instruction : block) {
                auto *call = dyn_cast<CallBase>(&instruction);
                if (!call)
                    continue;
                if (allocationRoutine(*call)) {
                    scanned.allocates = true;
                    size_t have = frames.userFrames(*call).size();
                    scanned.need = std::max(scanned.need, missing(wanted, have));
                }
                for (const Target &target : targets(*call)) {
                    scanned.calls.push_back({call, target});
                    callers[target.callee].push_back(&function);
                }
            }
        }
    }

    void findLeading() {
        SmallVector<Function *> work;
        for (auto &[function, scanned] : scans)
            if (scanned.allocates)
                work.push_back(function);
        while (!work.empty()) {
            Function *function = work.pop_back_val();
            if (leading.insert(function).second)
                append_range(work, callers[function]);
        }
    }

    void makeNodes() {
        DenseMap<Function *, unsigned> index;
        for (auto &[function, scanned] : scans)
            if (leading.contains(function))
                index[function] = index.size();
        for (auto &[function, scanned] : scans) {
            if (!leading.contains(function))
                continue;
            rememberName(*function);
            LeadingFunction node;
            node.function = function;
            for (auto &[call, target] : scanned.calls)
                if (leading.contains(target.callee))
                    node.calls.push_back(
                        {call, target.operand, index[target.callee], frames.userFrames(*call)});
            node.size = function->getInstructionCount();
            node.need = scanned.need;
            node.isRoot = !allCallersKnown(*function);
            node.notCopy = whyNotCopy(*function);
            graph.functions.push_back(std::move(node));
        }
    }

    // A function that can't be copied keeps its callers apart from its callees,
    // so it asks for nothing on their behalf.
    void findNeeds() {
        for (bool changed = true; changed;) {
            changed = false;
            for (LeadingFunction &node : reverse(graph.functions)) {
                for (const LeadingCall &call : node.calls) {
                    const LeadingFunction &callee = graph.functions[call.callee];
                    unsigned asked = callee.notCopy.empty() ? callee.need : 0;
                    unsigned need = missing(asked, call.frames.size());
                    if (need > node.need) {
                        node.need = need;
                        changed = true;
                    }
                }
            }
        }
    }

    Module &module;
    unsigned wanted;
    FrameTable &frames;
    AllocationGraph graph;
    MapVector<Function *, Scan> scans;
    DenseMap<Function *, SmallVector<Function *, 4>> callers;
    SmallPtrSet<Function *, 32> leading;
};

} // namespace

AllocationGraph makeAllocationGraph(Module &module, unsigned context, FrameTable &frames) {
    return Builder(module, context, frames).build();
}

} // namespace thermocline
