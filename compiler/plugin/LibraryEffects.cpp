// The table of known library functions, and the recording of a row.
#include "LibraryEffects.h"
#include "TwinsRecording.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/IR/Instructions.h"
#include "llvm/Transforms/Utils/BasicBlockUtils.h"

using namespace llvm;

namespace thermocline {

namespace {

enum class Kind : uint8_t { none, load, store, copy };
enum class Extent : uint8_t {
    bytes,          // a constant
    argument,       // bytes in argument a (+ b, if there is one)
    elements,       // argument a times argument b
    wide,           // argument a times sizeof(wchar_t)
    string,         // to the terminating zero, at most argument a bytes
    wideString,     // the same of wchar_t, at most argument a of them
    compared,       // to the first difference from argument a, at most argument b bytes
    comparedString, // the same, ending at a zero
    found,          // to the result; to the limit in argument a, if the result is null
    foundString,    // to the result; to the terminating zero, if the result is null
    result,         // as many bytes as the result says, if it is positive
    resultElements, // the result times argument a
    parsed,         // to where argument a points after the call (strtol)
    resultAt,       // the same, where the argument points to (getline)
    appended,       // behind the string that is there, the string in argument a, at most b bytes
    descriptor,     // all elements of a Fortran descriptor
};
constexpr int8_t none = -1, resultPointer = -2;

struct Effect {
    Kind kind = Kind::none;
    int8_t pointer = none; // number of the argument, or resultPointer
    Extent extent = Extent::bytes;
    int8_t a = none, b = none;
    bool after = false;
    int8_t from = none; // copies: the source
};

} // namespace

struct LibraryFunction {
    const char *name; // "name*": any function whose name starts so
    Effect effects[4];
};

// Constructors of the table's cells.
static constexpr Effect load(int8_t pointer, Extent extent, int8_t a = none, int8_t b = none) {
    return {Kind::load, pointer, extent, a, b, false, none};
}
static constexpr Effect store(int8_t pointer, Extent extent, int8_t a = none, int8_t b = none) {
    return {Kind::store, pointer, extent, a, b, false, none};
}
static constexpr Effect copy(int8_t to, int8_t from, Extent extent, int8_t a = none) {
    return {Kind::copy, to, extent, a, none, false, from};
}
static constexpr Effect after(Effect effect) {
    effect.after = true;
    return effect;
}
static constexpr Effect loadArray(int8_t pointer) { return load(pointer, Extent::descriptor); }
static constexpr Effect storeArray(int8_t pointer) {
    return after(store(pointer, Extent::descriptor));
}

using enum Extent;

// Where a function reads more or less by its own choice (qsort, memcmp by vectors),
// the least that any implementation must touch is meant.
static const LibraryFunction table[] = {
    // Memory
    {"memcpy", {copy(0, 1, argument, 2)}},
    {"__memcpy_chk", {copy(0, 1, argument, 2)}},
    {"mempcpy", {copy(0, 1, argument, 2)}},
    {"memmove", {copy(0, 1, argument, 2)}},
    {"__memmove_chk", {copy(0, 1, argument, 2)}},
    {"bcopy", {copy(1, 0, argument, 2)}},
    {"memset", {store(0, argument, 2)}},
    {"__memset_chk", {store(0, argument, 2)}},
    {"bzero", {store(0, argument, 1)}},
    {"explicit_bzero", {store(0, argument, 1)}},
    {"memcmp", {load(0, compared, 1, 2), load(1, compared, 0, 2)}},
    {"bcmp", {load(0, compared, 1, 2), load(1, compared, 0, 2)}},
    {"memchr", {after(load(0, found, 2))}},
    {"rawmemchr", {after(load(0, found))}},
    {"memrchr", {load(0, argument, 2)}},
    {"memmem", {load(0, argument, 1), load(2, argument, 3)}},
    // Strings
    {"strlen", {load(0, string)}},
    {"strnlen", {load(0, string, 1)}},
    {"strcpy", {copy(0, 1, string)}},
    {"stpcpy", {copy(0, 1, string)}},
    {"__strcpy_chk", {copy(0, 1, string)}},
    {"__stpcpy_chk", {copy(0, 1, string)}},
    // They fill the rest with zeros.
    {"strncpy", {load(1, string, 2), store(0, argument, 2)}},
    {"stpncpy", {load(1, string, 2), store(0, argument, 2)}},
    {"__strncpy_chk", {load(1, string, 2), store(0, argument, 2)}},
    {"strcat", {load(0, string), load(1, string), store(0, appended, 1)}},
    {"strncat", {load(0, string), load(1, string, 2), store(0, appended, 1, 2)}},
    {"strlcpy", {load(1, string)}},
    {"strcmp", {load(0, comparedString, 1), load(1, comparedString, 0)}},
    {"strncmp", {load(0, comparedString, 1, 2), load(1, comparedString, 0, 2)}},
    {"strcoll", {load(0, comparedString, 1), load(1, comparedString, 0)}},
    {"strcasecmp", {load(0, string), load(1, string)}},
    {"strncasecmp", {load(0, string, 2), load(1, string, 2)}},
    {"strchr", {after(load(0, foundString))}},
    {"strchrnul", {after(load(0, foundString))}},
    {"strrchr", {load(0, string)}},
    {"index", {after(load(0, foundString))}},
    {"rindex", {load(0, string)}},
    {"strstr", {after(load(0, foundString)), load(1, string)}},
    {"strcasestr", {after(load(0, foundString)), load(1, string)}},
    {"strpbrk", {after(load(0, foundString)), load(1, string)}},
    {"strspn", {after(load(0, result)), load(1, string)}},
    {"strcspn", {after(load(0, result)), load(1, string)}},
    {"strdup", {load(0, string), after(store(resultPointer, string))}},
    {"__strdup", {load(0, string), after(store(resultPointer, string))}},
    {"strndup", {load(0, string, 1), after(store(resultPointer, string))}},
    {"strtol", {after(load(0, parsed, 1))}},
    {"strtoll", {after(load(0, parsed, 1))}},
    {"strtoul", {after(load(0, parsed, 1))}},
    {"strtoull", {after(load(0, parsed, 1))}},
    {"strtod", {after(load(0, parsed, 1))}},
    {"strtof", {after(load(0, parsed, 1))}},
    {"strtold", {after(load(0, parsed, 1))}},
    {"__isoc23_strtol*", {after(load(0, parsed, 1))}},
    {"__isoc23_strtoul*", {after(load(0, parsed, 1))}},
    {"atoi", {load(0, string)}},
    {"atol", {load(0, string)}},
    {"atoll", {load(0, string)}},
    {"atof", {load(0, string)}},
    {"puts", {load(0, string)}},
    {"fputs", {load(0, string)}},
    {"sprintf", {after(store(0, result))}},
    {"vsprintf", {after(store(0, result))}},
    {"__sprintf_chk", {after(store(0, result))}},
    {"snprintf", {after(store(0, string, 1))}},
    {"vsnprintf", {after(store(0, string, 1))}},
    {"__snprintf_chk", {after(store(0, string, 1))}},
    // Wide strings
    {"wmemcpy", {copy(0, 1, wide, 2)}},
    {"wmemmove", {copy(0, 1, wide, 2)}},
    {"wmemset", {store(0, wide, 2)}},
    {"wcslen", {load(0, wideString)}},
    {"wcsnlen", {load(0, wideString, 1)}},
    {"wcscpy", {copy(0, 1, wideString)}},
    {"wcsdup", {load(0, wideString), after(store(resultPointer, wideString))}},
    {"wcscmp", {load(0, wideString), load(1, wideString)}},
    // Files
    {"fread", {after(store(0, resultElements, 1))}},
    {"fread_unlocked", {after(store(0, resultElements, 1))}},
    {"fwrite", {load(0, elements, 1, 2)}},
    {"fwrite_unlocked", {load(0, elements, 1, 2)}},
    {"fgets", {after(store(resultPointer, string))}},
    {"getline", {after(store(0, resultAt))}},
    {"getdelim", {after(store(0, resultAt))}},
    {"__getdelim", {after(store(0, resultAt))}},
    {"read", {after(store(1, result))}},
    {"pread", {after(store(1, result))}},
    {"pread64", {after(store(1, result))}},
    {"recv", {after(store(1, result))}},
    {"recvfrom", {after(store(1, result))}},
    {"write", {after(load(1, result))}},
    {"pwrite", {after(load(1, result))}},
    {"pwrite64", {after(load(1, result))}},
    {"send", {after(load(1, result))}},
    {"sendto", {after(load(1, result))}},
    // The comparisons are the program's own code and record themselves.
    {"qsort", {load(0, elements, 1, 2), after(store(0, elements, 1, 2))}},
    {"qsort_r", {load(0, elements, 1, 2), after(store(0, elements, 1, 2))}},
    // Fortran's run-time library (flang): arrays by descriptor
    {"_FortranAAssign*", {loadArray(1), storeArray(0)}},
    {"_FortranACopyInAssign", {loadArray(1), storeArray(0)}},
    {"_FortranACopyOutAssign", {loadArray(1), storeArray(0)}},
    {"_FortranAMatmulDirect*", {loadArray(1), loadArray(2), storeArray(0)}},
    {"_FortranAMatmulTranspose*", {loadArray(1), loadArray(2), storeArray(0)}},
    {"_FortranAMatmul*", {loadArray(1), loadArray(2), storeArray(0)}},
    {"_FortranATranspose*", {loadArray(1), storeArray(0)}},
    {"_FortranAReshape", {loadArray(1), loadArray(2), loadArray(3), storeArray(0)}},
    {"_FortranASpread", {loadArray(1), storeArray(0)}},
    {"_FortranAPack", {loadArray(1), loadArray(2), loadArray(3), storeArray(0)}},
    {"_FortranAUnpack", {loadArray(1), loadArray(2), loadArray(3), storeArray(0)}},
    {"_FortranACshift*", {loadArray(1), storeArray(0)}},
    {"_FortranAEoshift*", {loadArray(1), storeArray(0)}},
    {"_FortranADotProduct*", {loadArray(0), loadArray(1)}},
    {"_FortranACppDotProduct*", {loadArray(1), loadArray(2)}},
    {"_FortranASumDim", {loadArray(1), loadArray(5), storeArray(0)}},
    {"_FortranAProductDim", {loadArray(1), loadArray(5), storeArray(0)}},
    {"_FortranAMaxvalDim", {loadArray(1), loadArray(5), storeArray(0)}},
    {"_FortranAMinvalDim", {loadArray(1), loadArray(5), storeArray(0)}},
    {"_FortranASum*", {loadArray(0), loadArray(4)}},
    {"_FortranAProduct*", {loadArray(0), loadArray(4)}},
    {"_FortranACppSum*", {loadArray(1), loadArray(5)}},
    {"_FortranACppProduct*", {loadArray(1), loadArray(5)}},
    {"_FortranAMaxvalCharacter", {loadArray(1), loadArray(4), storeArray(0)}},
    {"_FortranAMinvalCharacter", {loadArray(1), loadArray(4), storeArray(0)}},
    {"_FortranAMaxval*", {loadArray(0), loadArray(4)}},
    {"_FortranAMinval*", {loadArray(0), loadArray(4)}},
    {"_FortranANorm2DimReal16", {loadArray(1), storeArray(0)}},
    {"_FortranANorm2Dim", {loadArray(1), storeArray(0)}},
    {"_FortranANorm2*", {loadArray(0)}},
    {"_FortranAMaxloc*", {loadArray(1), storeArray(0)}},
    {"_FortranAMinloc*", {loadArray(1), storeArray(0)}},
    {"_FortranAFindloc*", {loadArray(1), storeArray(0)}},
    {"_FortranACountDim", {loadArray(1), storeArray(0)}},
    {"_FortranAAllDim", {loadArray(1), storeArray(0)}},
    {"_FortranAAnyDim", {loadArray(1), storeArray(0)}},
    {"_FortranACount", {loadArray(0)}},
    {"_FortranAAll", {loadArray(0)}},
    {"_FortranAAny", {loadArray(0)}},
    // Fortran's characters
    {"_FortranACharacterCompareScalar1", {load(0, compared, 1, 2), load(1, compared, 0, 2)}},
    {"_FortranACharacterConcatenate", {loadArray(1), storeArray(0)}},
    {"_FortranACharacterCompare", {loadArray(1), loadArray(2), storeArray(0)}},
    {"_FortranAAdjustl", {loadArray(1), storeArray(0)}},
    {"_FortranAAdjustr", {loadArray(1), storeArray(0)}},
    {"_FortranATrim", {loadArray(1), storeArray(0)}},
    {"_FortranARepeat", {loadArray(1), storeArray(0)}},
    {"_FortranALenTrim1", {load(0, argument, 1)}},
    {"_FortranAIndex1", {load(0, argument, 1), load(2, argument, 3)}},
    {"_FortranAScan1", {load(0, argument, 1), load(2, argument, 3)}},
    {"_FortranAVerify1", {load(0, argument, 1), load(2, argument, 3)}},
    // Fortran's input and output
    {"_FortranAioOutputDescriptor", {loadArray(1)}},
    {"_FortranAioInputDescriptor", {storeArray(1)}},
    {"_FortranAioOutputAscii", {load(1, argument, 2)}},
    {"_FortranAioInputAscii", {after(store(1, argument, 2))}},
};

const LibraryFunction *findLibraryEffects(const CallBase &call) {
    static const StringMap<const LibraryFunction *> exact = [] {
        StringMap<const LibraryFunction *> map;
        for (const LibraryFunction &function : table)
            if (!StringRef(function.name).ends_with("*"))
                map[function.name] = &function;
        return map;
    }();
    const Function *callee = call.getCalledFunction();
    // A program's own strlen records itself.
    if (!callee || !callee->isDeclaration() || callee->isIntrinsic())
        return nullptr;
    StringRef name = callee->getName();
    const LibraryFunction *found = exact.lookup(name);
    for (const LibraryFunction &function : table) {
        StringRef pattern(function.name);
        if (!found && pattern.consume_back("*") && name.starts_with(pattern))
            found = &function;
    }
    if (!found)
        return nullptr;
    // A program may declare something else by such a name: every argument meant must be there.
    auto fits = [&](int8_t i) { return i < 0 || unsigned(i) < call.arg_size(); };
    for (const Effect &effect : found->effects) {
        if (effect.kind == Kind::none)
            continue;
        bool literal = effect.extent == Extent::bytes;
        if (!fits(effect.pointer) || !fits(effect.from) ||
            (!literal && (!fits(effect.a) || !fits(effect.b))))
            return nullptr;
        Value *pointer = effect.pointer == resultPointer
                             ? const_cast<CallBase *>(&call)
                             : call.getArgOperand(unsigned(effect.pointer));
        if (!pointer->getType()->isPointerTy() || pointer->getType()->getPointerAddressSpace() != 0)
            return nullptr;
    }
    return found;
}

namespace {

// Emits one row's recording around one call.
class Emitter {
  public:
    Emitter(CallBase &call, Value *recorder)
        : call(call), recorder(recorder), module(*call.getModule()), builder(&call) {}

    void at(BasicBlock &block, BasicBlock::iterator where) {
        builder.SetInsertPoint(&block, where);
    }
    void emit(const Effect &);

  private:
    Value *word(int8_t i) {
        Value *value = call.getArgOperand(unsigned(i));
        if (value->getType()->isPointerTy())
            return builder.CreatePtrToInt(value, builder.getInt64Ty());
        return builder.CreateZExtOrTrunc(value, builder.getInt64Ty());
    }
    Value *wordOr(int8_t i, uint64_t otherwise) {
        return i < 0 ? builder.getInt64(otherwise) : word(i);
    }
    Value *pointer(int8_t i) {
        return i == resultPointer ? &call : call.getArgOperand(unsigned(i));
    }
    Value *ask(StringRef name, ArrayRef<Value *> arguments) {
        return callRecorder(builder, module, name, builder.getInt64Ty(), arguments);
    }
    Value *upTo(Value *end, Value *start) {
        return builder.CreateSub(builder.CreatePtrToInt(end, builder.getInt64Ty()),
                                 builder.CreatePtrToInt(start, builder.getInt64Ty()));
    }
    Value *resultBytes();
    Value *extent(const Effect &);

    CallBase &call;
    Value *recorder;
    Module &module;
    IRBuilder<> builder;
};

Value *Emitter::resultBytes() {
    Value *bytes = builder.CreateSExtOrTrunc(&call, builder.getInt64Ty());
    return builder.CreateSelect(builder.CreateICmpSGT(bytes, builder.getInt64(0)), bytes,
                                builder.getInt64(0));
}

Value *Emitter::extent(const Effect &effect) {
    Value *start = pointer(effect.kind == Kind::copy ? effect.from : effect.pointer);
    switch (effect.extent) {
    case bytes:
        return builder.getInt64(uint64_t(effect.a));
    case argument:
        return effect.b < 0 ? word(effect.a) : builder.CreateAdd(word(effect.a), word(effect.b));
    case elements:
        return builder.CreateMul(word(effect.a), word(effect.b));
    case wide:
        return builder.CreateMul(word(effect.a), builder.getInt64(4));
    case string:
        return ask("tc_extent_string", {start, wordOr(effect.a, ~uint64_t(0))});
    case wideString:
        return ask("tc_extent_wide", {start, wordOr(effect.a, ~uint64_t(0))});
    case compared:
    case comparedString:
        return ask("tc_extent_compare", {start, pointer(effect.a), wordOr(effect.b, ~uint64_t(0)),
                                         builder.getInt64(effect.extent == comparedString)});
    case found:
    case foundString: {
        Value *none = builder.CreateIsNull(&call);
        // Only a string that was searched in vain has to be walked: a limit of 0 stops that.
        Value *all =
            effect.extent == found
                ? wordOr(effect.a, 0)
                : ask("tc_extent_string", {start, builder.CreateSExt(none, builder.getInt64Ty())});
        Value *part = builder.CreateAdd(upTo(&call, start), builder.getInt64(1));
        return builder.CreateSelect(none, all, part);
    }
    case result:
    case resultAt:
        return resultBytes();
    case resultElements:
        return builder.CreateMul(resultBytes(), word(effect.a));
    case parsed: {
        // Without a place for the end, a number is taken to fill its first eight bytes.
        Value *place = pointer(effect.a);
        if (isa<ConstantPointerNull>(place))
            return ask("tc_extent_string", {start, builder.getInt64(8)});
        Value *isNull = builder.CreateIsNull(place);
        // Reading through the start instead is always allowed.
        BasicBlock &entry = call.getFunction()->getEntryBlock();
        IRBuilder<> top(&entry, entry.begin());
        AllocaInst *dummy = top.CreateAlloca(builder.getPtrTy());
        builder.CreateStore(start, dummy);
        Value *end =
            builder.CreateLoad(builder.getPtrTy(), builder.CreateSelect(isNull, dummy, place));
        return upTo(end, start);
    }
    case appended:
        return ask("tc_extent_string", {pointer(effect.a), wordOr(effect.b, ~uint64_t(0))});
    case descriptor:
        break;
    }
    llvm_unreachable("no such extent");
}

void Emitter::emit(const Effect &effect) {
    Type *nothing = builder.getVoidTy();
    if (effect.extent == descriptor) {
        callRecorder(
            builder, module, "tc_record_descriptor", nothing,
            {recorder, pointer(effect.pointer), builder.getInt64(effect.kind == Kind::store)});
    } else if (effect.kind == Kind::copy) {
        callRecorder(builder, module, "tc_record_copy", nothing,
                     {recorder, pointer(effect.pointer), pointer(effect.from), extent(effect)});
    } else {
        StringRef name = effect.kind == Kind::store ? "tc_record_store" : "tc_record_load";
        Value *start = pointer(effect.pointer);
        if (effect.extent == resultAt) {
            start = builder.CreateLoad(builder.getPtrTy(), start);
        } else if (effect.extent == appended) {
            Value *whole = ask("tc_extent_string", {start, builder.getInt64(~uint64_t(0))});
            start = builder.CreateGEP(builder.getInt8Ty(), start,
                                      builder.CreateSub(whole, builder.getInt64(1)));
        }
        callRecorder(builder, module, name, nothing, {recorder, start, extent(effect)});
    }
}

} // namespace

void recordLibraryEffects(CallBase &call, const LibraryFunction &function, Value *recorder) {
    Emitter emitter(call, recorder);
    bool hasAfter = false;
    for (const Effect &effect : function.effects)
        if (effect.kind != Kind::none) {
            if (effect.after)
                hasAfter = true;
            else
                emitter.emit(effect);
        }
    // Nothing may stand between a musttail call and its return.
    if (!hasAfter || call.isMustTailCall())
        return;
    if (auto *invoke = dyn_cast<InvokeInst>(&call)) {
        BasicBlock *normal = invoke->getNormalDest();
        if (!normal->getSinglePredecessor())
            normal = SplitEdge(invoke->getParent(), normal);
        emitter.at(*normal, normal->getFirstInsertionPt());
    } else {
        emitter.at(*call.getParent(), std::next(call.getIterator()));
    }
    for (const Effect &effect : function.effects)
        if (effect.kind != Kind::none && effect.after)
            emitter.emit(effect);
}

} // namespace thermocline
