// The last pass: every allocation call gets the address of its site's
// descriptor, and the module gets its descriptors, its table of keys and the
// constructor and destructor that announce them to the runtime.
#include "Annotate.h"
#include "AllocationRoutines.h"
#include "Notes.h"
#include "SiteKey.h"
#include "abi.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/IR/AttributeMask.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/Module.h"
#include "llvm/Transforms/Utils/BasicBlockUtils.h"
#include "llvm/Transforms/Utils/Local.h"
#include "llvm/Transforms/Utils/ModuleUtils.h"
#include <cstddef>
#include <map>
#include <set>

using namespace llvm;

namespace thermocline {
namespace {

// The IR types below, field by field.
static_assert(sizeof(tc_site) == 16 && offsetof(tc_site, id) == 4 && offsetof(tc_site, key) == 8 &&
              offsetof(tc_site, routine) == 12);
static_assert(sizeof(tc_twin) == 8);
static_assert(sizeof(tc_module) == 88 && offsetof(tc_module, sites) == 8 &&
              offsetof(tc_module, table) == 16 && offsetof(tc_module, table_bytes) == 24 &&
              offsetof(tc_module, twins) == 32 && offsetof(tc_module, twin_count) == 40 &&
              offsetof(tc_module, twins_end) == 48 && offsetof(tc_module, functions) == 56 &&
              offsetof(tc_module, function_count) == 64 && offsetof(tc_module, recording) == 72 &&
              offsetof(tc_module, runtime) == 80);

struct AllocationCall {
    CallBase *call;
    AllocationRoutine routine;
    std::string key;
};

struct Site {
    std::set<std::string> routines; // one position can allocate in several ways
    unsigned calls = 0;             // in the machine code, twins apart
    unsigned index = 0;
};

using SiteMap = std::map<std::string, Site>;

// musttail wants equal signatures, which the extra argument breaks.  No routine
// here calls back into the program without bound, so an ordinary tail call keeps
// the meaning; only a forwarded "..." can't be written any other way.
bool relaxMustTail(CallBase &call) {
    auto *plain = dyn_cast<CallInst>(&call);
    if (!plain || !plain->isMustTailCall())
        return true;
    if (plain->getFunctionType()->isVarArg())
        return false;
    plain->setTailCallKind(CallInst::TCK_Tail);
    return true;
}

class Annotator {
  public:
    Annotator(Module &module, const Options &options)
        : module(module), options(options), moduleName(oneWord(options.module)),
          context(module.getContext()), pointer(PointerType::getUnqual(context)),
          int32(Type::getInt32Ty(context)), int64(Type::getInt64Ty(context)),
          siteType(StructType::get(context, {int32, int32, int32, int32})) {}

    void run() {
        findCalls();
        std::string table = makeTable();
        makeDescriptors();
        for (AllocationCall &found : calls)
            annotate(found);
        dropMemoryPromises();
        announce(table);
    }

  private:
    void findCalls();
    void findCall(CallBase &call);
    std::string key(const CallBase &call);
    std::string makeTable();
    void makeDescriptors();
    Constant *siteAddress(const AllocationCall &found);
    FunctionCallee runtimeFunction(StringRef name, FunctionType *type, bool throws);
    void annotate(AllocationCall &found);
    void callEntry(AllocationCall &found, Constant *site);
    void carryAcross(CallBase &call, Constant *site);
    Constant *makeModule(const std::string &table);
    Function *makeCaller(StringRef name, StringRef callee, Constant *moduleStructure);
    void dropMemoryPromises();
    void announce(const std::string &table);

    Module &module;
    const Options &options;
    std::string moduleName;
    LLVMContext &context;
    PointerType *pointer;
    IntegerType *int32, *int64;
    StructType *siteType;
    FrameTable frames;
    std::vector<AllocationCall> calls;
    SiteMap sites;
    std::vector<Constant *> descriptorFields;
    SetVector<Function *> annotated; // functions with a site
    GlobalVariable *descriptors = nullptr;
};

void Annotator::findCalls() {
    for (Function &function : module) {
        if (isPrivateRoutine(function))
            addTableNote(module, "calls of " + function.getName() +
                                     " have no site: this library has its own");
        if (function.isDeclarationForLinker())
            continue;
        for (BasicBlock &block : function)
            for (Instruction &instruction : block)
                if (auto *call = dyn_cast<CallBase>(&instruction))
                    findCall(*call);
    }
    for (const AllocationCall &found : calls) {
        Site &site = sites[found.key];
        site.routines.insert(found.routine.name.str());
        site.calls += found.call->getFunction()->getSection() != twinSection;
    }
}

void Annotator::findCall(CallBase &call) {
    auto routine = allocationRoutine(call);
    if (!routine)
        return;
    if (relaxMustTail(call))
        calls.push_back({&call, *routine, key(call)});
    else
        addNote(module, "a call of " + routine->name + " in " + functionName(*call.getFunction()) +
                            " forwards its variable arguments and has no site");
}

std::string Annotator::key(const CallBase &call) {
    Frames path = frames.userFrames(call);
    for (StringRef frame : contextOf(*call.getFunction()))
        path.push_back(frames.intern(frame));
    if (path.empty())
        path = frames.allFrames(call);
    std::string out = moduleName + "!";
    for (auto [i, frame] : enumerate(ArrayRef(path).take_front(options.context + 1)))
        out += (i ? " < " : "") + frames.text(frame).str();
    return out;
}

// The table's text; the sites' descriptors are offsets into it.
std::string Annotator::makeTable() {
    std::string table;
    auto add = [&](const Twine &text) {
        auto offset = static_cast<uint32_t>(table.size());
        table += text.str();
        table += '\0';
        return ConstantInt::get(int32, offset);
    };
    add("thermocline-sites 1 module=" + moduleName + " context=" + Twine(options.context));
    Constant *zero = ConstantInt::get(int32, 0);
    for (auto &[key, site] : sites) {
        site.index = descriptorFields.size();
        Constant *keyOffset = add(key);
        Constant *routineOffset = add(join(site.routines, ", "));
        add(Twine(site.calls));
        descriptorFields.push_back(
            ConstantStruct::get(siteType, {zero, zero, keyOffset, routineOffset}));
    }
    add("");
    for (const std::string &note : notesOf(module))
        add(note);
    return table;
}

void Annotator::makeDescriptors() {
    auto *type = ArrayType::get(siteType, descriptorFields.size());
    descriptors =
        new GlobalVariable(module, type, /*isConstant=*/false, GlobalValue::InternalLinkage,
                           ConstantArray::get(type, descriptorFields), "thermocline.sites");
    descriptors->setSection("thermocline_sites");
    descriptors->setAlignment(Align(16));
}

Constant *Annotator::siteAddress(const AllocationCall &found) {
    unsigned index = sites[found.key].index;
    return ConstantExpr::getInBoundsGetElementPtr(
        descriptors->getValueType(), descriptors,
        ArrayRef<Constant *>{ConstantInt::get(int64, 0), ConstantInt::get(int64, index)});
}

// The runtime is another shared object: nonlazybind calls through the GOT, which
// saves the jump through the PLT on each allocation.
FunctionCallee Annotator::runtimeFunction(StringRef name, FunctionType *type, bool throws) {
    FunctionCallee callee = module.getOrInsertFunction(name, type);
    if (auto *function = dyn_cast<Function>(callee.getCallee())) {
        function->addFnAttr(Attribute::NonLazyBind);
        if (!throws)
            function->setDoesNotThrow();
    }
    return callee;
}

void Annotator::annotate(AllocationCall &found) {
    annotated.insert(found.call->getFunction());
    if (found.routine.kind == Kind::Entry)
        callEntry(found, siteAddress(found));
    else
        carryAcross(*found.call, siteAddress(found));
}

// Attributes that speak of the memory the routine touches, or that let a later
// pass treat it as the builtin, are not true of the runtime's form.
AttributeList entryAttributes(const CallBase &call) {
    AttributeMask mask;
    for (Attribute::AttrKind kind : {Attribute::Memory, Attribute::Builtin, Attribute::NoBuiltin,
                                     Attribute::AllocSize, Attribute::AllocKind})
        mask.addAttribute(kind);
    mask.addAttribute("alloc-family");
    mask.addAttribute("alloc-variant-zeroed");
    return call.getAttributes().removeFnAttributes(call.getContext(), mask);
}

void Annotator::callEntry(AllocationCall &found, Constant *site) {
    CallBase &call = *found.call;
    SmallVector<Value *> arguments(call.args());
    arguments.push_back(site);
    SmallVector<Type *> types;
    for (Value *argument : arguments)
        types.push_back(argument->getType());
    auto *type = FunctionType::get(call.getType(), types, /*isVarArg=*/false);
    bool throws =
        found.routine.entry.starts_with("tc_new") && !found.routine.entry.contains("nothrow");
    FunctionCallee callee = runtimeFunction(found.routine.entry, type, throws);
    SmallVector<OperandBundleDef> bundles;
    call.getOperandBundlesAsDefs(bundles);

    CallBase *fresh = nullptr;
    if (auto *invoke = dyn_cast<InvokeInst>(&call)) {
        fresh = InvokeInst::Create(callee, invoke->getNormalDest(), invoke->getUnwindDest(),
                                   arguments, bundles, "", call.getIterator());
    } else {
        auto *plain = CallInst::Create(callee, arguments, bundles, "", call.getIterator());
        plain->setTailCallKind(cast<CallInst>(call).getTailCallKind());
        fresh = plain;
    }
    fresh->setAttributes(entryAttributes(call));
    fresh->copyMetadata(call);
    fresh->takeName(&call);
    call.replaceAllUsesWith(fresh);
    call.eraseFromParent();
}

// A block that only the invoke reaches, on its normal or its unwind edge.
BasicBlock *ownNormalBlock(InvokeInst &invoke) {
    BasicBlock *target = invoke.getNormalDest();
    if (target->getSinglePredecessor())
        return target;
    return SplitEdge(invoke.getParent(), target);
}

BasicBlock *ownUnwindBlock(InvokeInst &invoke) {
    BasicBlock *pad = invoke.getUnwindDest();
    if (pad->getUniquePredecessor())
        return pad;
    SmallVector<BasicBlock *, 2> split;
    SplitLandingPadPredecessors(pad, {invoke.getParent()}, ".carry", ".other", split);
    return invoke.getUnwindDest();
}

// Whether an exception may leave the call and this function with it.  A function of
// the C library throws only what the program's own callback threw.
bool mayUnwind(const CallBase &call) {
    const Function &caller = *call.getFunction();
    return !call.doesNotThrow() && !caller.doesNotThrow() &&
           (caller.hasPersonalityFn() || directCallee(call)->getName().starts_with("_Z"));
}

// The call as an invoke whose unwind edge only goes on unwinding.
InvokeInst *withCleanup(CallInst &call) {
    Function &caller = *call.getFunction();
    LLVMContext &context = caller.getContext();
    if (!caller.hasPersonalityFn()) {
        auto *type = FunctionType::get(Type::getInt32Ty(context), /*isVarArg=*/true);
        FunctionCallee personality =
            caller.getParent()->getOrInsertFunction("__gxx_personality_v0", type);
        caller.setPersonalityFn(cast<Constant>(personality.getCallee()));
    }
    auto *block = BasicBlock::Create(context, "unwind", &caller);
    auto *type = StructType::get(PointerType::getUnqual(context), Type::getInt32Ty(context));
    auto *pad = LandingPadInst::Create(type, 0, "", block);
    pad->setCleanup(true);
    ResumeInst::Create(pad, block);
    BasicBlock *from = call.getParent();
    changeToInvokeAndSplitBasicBlock(&call, block);
    return cast<InvokeInst>(from->getTerminator());
}

void Annotator::carryAcross(CallBase &call, Constant *site) {
    auto *type = FunctionType::get(pointer, {pointer}, false);
    FunctionCallee carry = runtimeFunction("tc_carry", type, false);
    DebugLoc location = call.getDebugLoc();
    auto carryAt = [&](BasicBlock::iterator place, Value *what) -> CallInst * {
        auto *inserted = CallInst::Create(carry, {what}, "", place);
        // A call without a location inside a function that has one is invalid
        // where it could be inlined.
        inserted->setDebugLoc(location);
        return inserted;
    };
    CallInst *before = carryAt(call.getIterator(), site);
    auto *invoke = dyn_cast<InvokeInst>(&call);
    if (!invoke && mayUnwind(call)) {
        cast<CallInst>(call).setTailCallKind(CallInst::TCK_None);
        invoke = withCleanup(cast<CallInst>(call));
    }
    if (invoke) {
        carryAt(ownNormalBlock(*invoke)->getFirstInsertionPt(), before);
        carryAt(ownUnwindBlock(*invoke)->getFirstInsertionPt(), before);
        return;
    }
    cast<CallInst>(call).setTailCallKind(CallInst::TCK_None);
    carryAt(std::next(call.getIterator()), before);
}

// The runtime writes the site's descriptor and memory of its own: what was said of
// the memory that a function touches no longer holds, nor for its callers.
void Annotator::dropMemoryPromises() {
    for (size_t i = 0; i < annotated.size(); i++) { // it grows
        annotated[i]->removeFnAttr(Attribute::Memory);
        for (const Use &use : annotated[i]->uses()) {
            auto *call = dyn_cast<CallBase>(use.getUser());
            if (!call || !call->isCallee(&use))
                continue;
            call->removeFnAttr(Attribute::Memory);
            annotated.insert(call->getFunction());
        }
    }
}

Constant *Annotator::makeModule(const std::string &table) {
    Constant *text = ConstantDataArray::getString(context, table, /*AddNull=*/false);
    auto *keys = new GlobalVariable(module, text->getType(), true, GlobalValue::InternalLinkage,
                                    text, "thermocline.keys");
    keys->setSection("thermocline_keys");
    keys->setAlignment(Align(1));

    Constant *null = ConstantPointerNull::get(pointer);
    Constant *twins = null, *twinsEnd = null, *functions = null, *recording = null;
    uint64_t twinCount = 0, functionCount = 0;
    if (GlobalVariable *found = module.getGlobalVariable(twinsName, /*AllowInternal=*/true)) {
        twins = found;
        twinCount = cast<ArrayType>(found->getValueType())->getNumElements();
        // The linker's name for the end of a section whose name is an identifier.
        auto *end =
            new GlobalVariable(module, Type::getInt8Ty(context), true, GlobalValue::ExternalLinkage,
                               nullptr, "__stop_" + twinSection);
        end->setVisibility(GlobalValue::HiddenVisibility);
        end->setDSOLocal(true);
        twinsEnd = end;
    }
    if (GlobalVariable *found = module.getGlobalVariable(functionsName, /*AllowInternal=*/true)) {
        functions = found;
        functionCount = cast<ArrayType>(found->getValueType())->getNumElements();
    }
    if (GlobalVariable *found = module.getGlobalVariable(recordingName, /*AllowInternal=*/true))
        recording = found;
    auto *type = StructType::get(context, {int32, int32, pointer, pointer, int64, pointer, int64,
                                           pointer, pointer, int64, pointer, pointer});
    Constant *value = ConstantStruct::get(
        type, {ConstantInt::get(int32, TC_ABI_VERSION), ConstantInt::get(int32, sites.size()),
               descriptors, keys, ConstantInt::get(int64, table.size()), twins,
               ConstantInt::get(int64, twinCount), twinsEnd, functions,
               ConstantInt::get(int64, functionCount), recording, null});
    return new GlobalVariable(module, type, false, GlobalValue::InternalLinkage, value,
                              "thermocline.module");
}

Function *Annotator::makeCaller(StringRef name, StringRef callee, Constant *moduleStructure) {
    auto *type = FunctionType::get(Type::getVoidTy(context), false);
    auto *function = Function::Create(type, GlobalValue::InternalLinkage, name, module);
    function->setDoesNotThrow();
    function->addFnAttr(Attribute::NoInline);
    IRBuilder<> builder(BasicBlock::Create(context, "", function));
    auto *calleeType = FunctionType::get(builder.getVoidTy(), {pointer}, false);
    builder.CreateCall(runtimeFunction(callee, calleeType, false), {moduleStructure});
    builder.CreateRetVoid();
    return function;
}

// Priority 0 is first among constructors and last among destructors.
void Annotator::announce(const std::string &table) {
    Constant *structure = makeModule(table);
    appendToGlobalCtors(module, makeCaller("thermocline.load", "tc_module_load", structure), 0);
    appendToGlobalDtors(module, makeCaller("thermocline.unload", "tc_module_unload", structure), 0);
}

} // namespace

PreservedAnalyses AnnotatePass::run(Module &module, ModuleAnalysisManager &) {
    bool hasCode = any_of(module, [](const Function &f) { return !f.isDeclarationForLinker(); });
    if (!hasCode || module.getNamedGlobal("thermocline.module"))
        return PreservedAnalyses::all();
    if (!options.native.empty())
        addNotesFromFile(module, options.native);
    for (const std::string &bad : options.bad)
        addNote(module, "option \"" + bad + "\" is unknown or malformed and was ignored");
    Annotator(module, options).run();
    report(module, options.notes);
    return PreservedAnalyses::none();
}

} // namespace thermocline
