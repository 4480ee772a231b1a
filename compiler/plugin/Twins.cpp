// Chooses the functions that get a twin, copies them, and leaves the table of pairs.
#include "Twins.h"
#include "Notes.h"
#include "SiteKey.h"
#include "TwinsRecording.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/IR/Constants.h"
#include "llvm/IR/GlobalAlias.h"
#include "llvm/IR/InstrTypes.h"
#include "llvm/IR/Instructions.h"
#include "llvm/Transforms/Utils/Cloning.h"
#include "llvm/Transforms/Utils/ValueMapper.h"

using namespace llvm;

namespace thermocline {

// A constant table of labels (computed goto) that only `function` uses can be copied
// with it; any other use of its labels from outside ties it to one body.
static bool isOwnLabelTable(const GlobalVariable &table, const Function &function) {
    if (!table.isConstant() || !table.hasLocalLinkage() || !table.hasInitializer())
        return false;
    SmallVector<const User *> users(table.users());
    while (!users.empty()) {
        const User *user = users.pop_back_val();
        if (const auto *instruction = dyn_cast<Instruction>(user)) {
            if (instruction->getFunction() != &function)
                return false;
        } else if (isa<ConstantExpr>(user)) {
            users.append(user->user_begin(), user->user_end());
        } else {
            return false;
        }
    }
    return true;
}

// The tables to be copied with the function; false if it can't be copied.
static bool findLabelTables(Function &function, SmallSetVector<GlobalVariable *, 2> &tables) {
    for (BasicBlock &block : function) {
        if (!block.hasAddressTaken())
            continue;
        SmallVector<User *> users(BlockAddress::get(&block)->users());
        while (!users.empty()) {
            User *user = users.pop_back_val();
            if (auto *table = dyn_cast<GlobalVariable>(user)) {
                if (!isOwnLabelTable(*table, function))
                    return false;
                tables.insert(table);
            } else if (isa<Constant>(user)) {
                users.append(user->user_begin(), user->user_end());
            }
        }
    }
    return true;
}

static bool canBeCopied(Function &function, SmallSetVector<GlobalVariable *, 2> &tables) {
    return !function.hasFnAttribute(Attribute::Naked) && !function.isPresplitCoroutine() &&
           findLabelTables(function, tables);
}

static Function *copy(Function &function, const SmallSetVector<GlobalVariable *, 2> &tables,
                      StringRef suffix) {
    rememberName(function);
    ValueToValueMapTy map;
    std::vector<std::pair<GlobalVariable *, GlobalVariable *>> copies;
    for (GlobalVariable *table : tables) {
        auto *twin =
            new GlobalVariable(*function.getParent(), table->getValueType(), true,
                               GlobalValue::PrivateLinkage, nullptr, table->getName() + suffix);
        twin->copyAttributesFrom(table);
        map[table] = twin;
        copies.emplace_back(table, twin);
    }
    Function *twin = CloneFunction(&function, map);
    for (auto [table, twinTable] : copies)
        twinTable->setInitializer(MapValue(table->getInitializer(), map));

    twin->setName(function.getName() + suffix);
    twin->setLinkage(GlobalValue::InternalLinkage);
    twin->setVisibility(GlobalValue::DefaultVisibility);
    twin->setDLLStorageClass(GlobalValue::DefaultStorageClass);
    twin->setDSOLocal(true);
    twin->setComdat(nullptr);
    twin->setSection(twinSection);
    twin->setAlignment(Align(16));
    twin->setPrefixData(nullptr);
    twin->setPrologueData(nullptr);
    return twin;
}

// Recording writes memory, so nothing that said otherwise may survive.
static void dropMemoryPromises(Function &twin) {
    twin.removeFnAttr(Attribute::Memory);
    twin.removeFnAttr(Attribute::Speculatable);
    twin.removeFnAttr(Attribute::NoSync);
    for (BasicBlock &block : twin)
        for (Instruction &instruction : block)
            if (auto *call = dyn_cast<CallBase>(&instruction))
                if (!isa<IntrinsicInst>(call))
                    call->removeFnAttr(Attribute::Memory);
}

static void callTwins(Function &twin, const DenseMap<Function *, Function *> &twins) {
    for (BasicBlock &block : twin)
        for (Instruction &instruction : block)
            if (auto *call = dyn_cast<CallBase>(&instruction))
                // A function that another module may replace is called by its name.
                if (Function *callee = call->getCalledFunction();
                    callee && (callee->hasLocalLinkage() || callee->isDSOLocal()))
                    if (Function *calleeTwin = twins.lookup(callee))
                        call->setCalledFunction(calleeTwin);
}

// The function by a name that no other module can replace, so that its distance to
// the table is known to the linker.
static Constant *localName(Function &function) {
    if (function.isDSOLocal() || function.hasLocalLinkage())
        return &function;
    auto *alias =
        GlobalAlias::create(GlobalValue::PrivateLinkage, function.getName() + ".plain", &function);
    alias->setDSOLocal(true);
    return alias;
}

// An array of tc_twin (runtime/abi.h), which annotate hands to the runtime.
static void emitTable(Module &module, ArrayRef<std::pair<Function *, Function *>> pairs) {
    LLVMContext &context = module.getContext();
    Type *i32 = Type::getInt32Ty(context), *i64 = Type::getInt64Ty(context);
    auto *pair = StructType::get(i32, i32);
    auto *array = ArrayType::get(pair, pairs.size());
    auto *table = new GlobalVariable(module, array, true, GlobalValue::PrivateLinkage, nullptr,
                                     "thermocline.twins");
    table->setSection("thermocline_twins");
    table->setAlignment(Align(4));
    auto distance = [&](Constant *to, unsigned row, unsigned field) {
        Constant *index[] = {ConstantInt::get(i32, 0), ConstantInt::get(i32, row),
                             ConstantInt::get(i32, field)};
        Constant *from = ConstantExpr::getInBoundsGetElementPtr(array, table, index);
        return ConstantExpr::getTrunc(ConstantExpr::getSub(ConstantExpr::getPtrToInt(to, i64),
                                                           ConstantExpr::getPtrToInt(from, i64)),
                                      i32);
    };
    std::vector<Constant *> rows;
    for (unsigned row = 0; row < pairs.size(); row++)
        rows.push_back(ConstantStruct::get(pair, distance(localName(*pairs[row].first), row, 0),
                                           distance(pairs[row].second, row, 1)));
    table->setInitializer(ConstantArray::get(array, rows));
}

PreservedAnalyses TwinsPass::run(Module &module, ModuleAnalysisManager &analyses) {
    std::vector<Function *> functions;
    for (Function &function : module) {
        if (function.isDeclaration() || function.hasAvailableExternallyLinkage())
            continue;
        // The jump to a twin takes five bytes and a function may be shorter: what
        // follows it must then start further on.
        if (function.getAlign().valueOrOne() < 16)
            function.setAlignment(Align(16));
        functions.push_back(&function);
    }

    unsigned left = 0;
    std::vector<std::pair<Function *, Function *>> pairs;
    DenseMap<Function *, Function *> twins, plainVersions;
    for (Function *function : functions) {
        SmallSetVector<GlobalVariable *, 2> tables;
        if (!isToBeRecorded(*function))
            continue;
        if (!canBeCopied(*function, tables)) {
            left++;
            continue;
        }
        Function *twin = copy(*function, tables, ".twin");
        pairs.emplace_back(function, twin);
        if (!canChangeOver(*function))
            plainVersions[function] = copy(*function, tables, ".unrecorded");
        twins[function] = twin;
    }

    auto &ofFunctions = analyses.getResult<FunctionAnalysisManagerModuleProxy>(module).getManager();
    if (!pairs.empty()) {
        TwinsRecording recording(module, pairs.size());
        for (auto [function, version] : plainVersions)
            dropMemoryPromises(*version);
        for (auto [function, twin] : pairs) {
            dropMemoryPromises(*twin);
            recording.find(*twin, *function, plainVersions.lookup(function), ofFunctions);
        }
        recording.insert(twins);
        for (auto [function, twin] : pairs)
            callTwins(*twin, twins);
        for (auto [function, version] : plainVersions)
            callTwins(*version, twins);
        emitTable(module, pairs);
    }
    if (left)
        addNote(module, Twine(left) + " functions have no recording twin (naked, a coroutine, or "
                                      "their labels are used elsewhere): what they touch is not "
                                      "profiled");
    return PreservedAnalyses::none();
}

} // namespace thermocline
