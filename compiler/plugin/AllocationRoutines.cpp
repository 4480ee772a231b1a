// The table of allocation routines.  A new routine is one line here; if it has a
// form of its own in the runtime, that goes into runtime/abi.h as well.
#include "AllocationRoutines.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/IR/DerivedTypes.h"
#include "llvm/IR/Function.h"
#include "llvm/IR/GlobalAlias.h"
#include "llvm/IR/Module.h"

using namespace llvm;

namespace thermocline {
namespace {

// How a call must look for the runtime's form to take its place: one letter an
// argument, 's' a 64-bit size or alignment, 'p' a pointer.  A program may have
// declared malloc otherwise; such a call is left as it is.
struct Entry {
    StringLiteral symbol;
    StringLiteral name;
    StringLiteral entry;
    StringLiteral arguments;
};

constexpr Entry entries[] = {
    {"malloc", "malloc", "tc_malloc", "s"},
    {"calloc", "calloc", "tc_calloc", "ss"},
    {"realloc", "realloc", "tc_realloc", "ps"},
    {"reallocarray", "reallocarray", "tc_reallocarray", "pss"},
    {"posix_memalign", "posix_memalign", "tc_posix_memalign", "pss"},
    {"aligned_alloc", "aligned_alloc", "tc_aligned_alloc", "ss"},
    {"memalign", "memalign", "tc_memalign", "ss"},
    {"valloc", "valloc", "tc_valloc", "s"},
    {"pvalloc", "pvalloc", "tc_pvalloc", "s"},
    {"_Znwm", "operator new", "tc_new", "s"},
    {"_Znam", "operator new[]", "tc_new_array", "s"},
    {"_ZnwmRKSt9nothrow_t", "operator new(nothrow)", "tc_new_nothrow", "sp"},
    {"_ZnamRKSt9nothrow_t", "operator new[](nothrow)", "tc_new_array_nothrow", "sp"},
    {"_ZnwmSt11align_val_t", "operator new(align)", "tc_new_aligned", "ss"},
    {"_ZnamSt11align_val_t", "operator new[](align)", "tc_new_array_aligned", "ss"},
    {"_ZnwmSt11align_val_tRKSt9nothrow_t", "operator new(align, nothrow)", "tc_new_aligned_nothrow",
     "ssp"},
    {"_ZnamSt11align_val_tRKSt9nothrow_t", "operator new[](align, nothrow)",
     "tc_new_array_aligned_nothrow", "ssp"},
};

// C and C++ library functions whose memory the caller owns, or that exist for
// the caller's sake (a FILE's buffer).
constexpr StringLiteral carried[] = {
    "strdup",
    "strndup",
    "__strdup",
    "__strndup",
    "wcsdup",
    "asprintf",
    "vasprintf",
    "__asprintf_chk",
    "__vasprintf_chk",
    "__asprintf",
    "getline",
    "getdelim",
    "__getdelim",
    "getwline",
    "realpath",
    "__realpath_chk",
    "canonicalize_file_name",
    "getcwd",
    "__getcwd_chk",
    "get_current_dir_name",
    "tempnam",
    "scandir",
    "scandir64",
    "scandirat",
    "glob",
    "glob64",
    "wordexp",
    "open_memstream",
    "open_wmemstream",
    "fmemopen",
    "fopen",
    "fopen64",
    "freopen",
    "freopen64",
    "fdopen",
    "tmpfile",
    "tmpfile64",
    "popen",
    "opendir",
    "fdopendir",
    "getaddrinfo",
    "regcomp",
    "hcreate",
    "hcreate_r",
    "tsearch",
    // std::string's memory comes from libstdc++.so: these members always, or
    // nearly always, allocate.
    "_ZNSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEE9_M_createERmm",
    "_ZNSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEE9_M_mutateEmmPKcm",
    "_ZNSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEE7reserveEm",
};

// Flang's run-time library, after "_FortranA": calls that allocate their result,
// or a variable on assignment.  Its input and output, which allocate buffers of
// their own, are left out.
constexpr StringLiteral carriedFortran[] = {
    "AllocatableAllocate",
    "PointerAllocate",
    "RaggedArrayAllocate",
    "Malloc",
    "Assign",
    "CopyInAssign",
    "CopyOutAssign",
    "PushArrayConstructor",
    "PushValue",
    "PushDescriptor",
    "ShallowCopy",
    "Cshift",
    "Eoshift",
    "Pack",
    "Unpack",
    "Reshape",
    "Spread",
    "Transpose",
    "Transfer",
    "Matmul",
    "Adjust",
    "Repeat",
    "Trim",
    "CharacterConcatenate",
    "CharacterMax",
    "CharacterMin",
    "Maxloc",
    "Minloc",
    "Findloc",
    "Maxval",
    "Minval",
    "BesselJn",
    "BesselYn",
};

bool startsWithAny(StringRef name, ArrayRef<StringLiteral> prefixes) {
    return any_of(prefixes, [&](StringRef prefix) { return name.starts_with(prefix); });
}

bool carriedByFortran(StringRef symbol) {
    if (!symbol.consume_front("_FortranA") || symbol.starts_with("io"))
        return false;
    // MatmulDirect writes into its operand; "Dim" marks the reductions that
    // return an array, the others return a scalar.
    if (symbol.starts_with("MatmulDirect"))
        return false;
    return startsWithAny(symbol, carriedFortran) || symbol.contains("Dim");
}

bool hasArguments(const CallBase &call, StringRef arguments) {
    if (call.arg_size() != arguments.size() || call.getFunctionType()->isVarArg())
        return false;
    for (auto [argument, letter] : zip(call.args(), arguments)) {
        Type *type = argument->getType();
        if (letter == 'p' ? !type->isPointerTy() : !type->isIntegerTy(64))
            return false;
    }
    return true;
}

} // namespace

Function *directCallee(const CallBase &call) {
    Value *callee = call.getCalledOperand()->stripPointerCasts();
    if (auto *alias = dyn_cast<GlobalAlias>(callee))
        if (!alias->isInterposable())
            callee = alias->getAliasee()->stripPointerCasts();
    return dyn_cast<Function>(callee);
}

bool isEntryRoutine(const Function &function) {
    return any_of(entries, [&](const Entry &entry) { return entry.symbol == function.getName(); });
}

// Declared here, yet the linker found the definition among this link's native
// objects (it sets dso_local).  In an executable that is the process's routine,
// which the runtime sees, but nothing outside a shared library knows its own.
bool isPrivateRoutine(const Function &function) {
    const Module &module = *function.getParent();
    bool shared =
        module.getPICLevel() != PICLevel::NotPIC && module.getPIELevel() == PIELevel::Default;
    return isEntryRoutine(function) && function.isDeclarationForLinker() &&
           (!function.hasDefaultVisibility() || (shared && function.isDSOLocal()));
}

std::optional<AllocationRoutine> allocationRoutine(const CallBase &call) {
    Function *callee = directCallee(call);
    if (!callee || !callee->isDeclarationForLinker() || isPrivateRoutine(*callee))
        return std::nullopt;
    StringRef symbol = callee->getName();
    for (const Entry &entry : entries) {
        if (symbol != entry.symbol)
            continue;
        bool returnsInt = entry.symbol == "posix_memalign";
        Type *result = call.getType();
        if (!hasArguments(call, entry.arguments) ||
            !(returnsInt ? result->isIntegerTy(32) : result->isPointerTy()))
            return std::nullopt;
        return AllocationRoutine{entry.name, Kind::Entry, entry.entry};
    }
    if (is_contained(carried, symbol)) {
        StringRef name = symbol.starts_with("_ZNSt7__cxx1112basic_string") ? "std::string" : symbol;
        return AllocationRoutine{name, Kind::Carry, ""};
    }
    if (carriedByFortran(symbol))
        return AllocationRoutine{symbol, Kind::Carry, ""};
    return std::nullopt;
}

} // namespace thermocline
