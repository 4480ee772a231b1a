// See TwinsPositions.h.
#include "TwinsPositions.h"
#include "SiteKey.h"
#include "trace/record.h"
#include "llvm/IR/Constants.h"

using namespace llvm;

namespace thermocline {

TwinsPositions::TwinsPositions(Module &module)
    : module(module), entry(StructType::get(Type::getInt32Ty(module.getContext()),
                                            Type::getInt32Ty(module.getContext()))) {}

GlobalVariable *TwinsPositions::place(const std::string &first, const std::string &second) {
    std::string text = first + '\0' + second;
    GlobalVariable *&known = places[text];
    if (!known) {
        Constant *value = ConstantDataArray::getString(module.getContext(), text);
        known = new GlobalVariable(module, value->getType(), true, GlobalValue::PrivateLinkage,
                                   value, "thermocline.place");
        known->setSection("thermocline_places");
        known->setAlignment(Align(1));
    }
    return known;
}

Constant *TwinsPositions::of(const Instruction &instruction, GlobalVariable &in) {
    SourcePosition position = sourcePosition(instruction);
    Type *i32 = Type::getInt32Ty(module.getContext());
    auto address = [&](GlobalVariable &variable) {
        return ConstantExpr::getPtrToInt(&variable, Type::getInt64Ty(module.getContext()));
    };
    Constant *distance = ConstantExpr::getTrunc(
        ConstantExpr::getSub(address(*place(position.function, position.file)), address(in)), i32);
    // What does not fit is not known.
    unsigned line = position.line < 1u << (32 - TC_COLUMN_BITS) ? position.line : 0;
    unsigned column = line && position.column < 1u << TC_COLUMN_BITS ? position.column : 0;
    return ConstantStruct::get(
        entry, {distance, ConstantInt::get(i32, uint64_t(line) << TC_COLUMN_BITS | column)});
}

} // namespace thermocline
