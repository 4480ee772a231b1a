// What a twin's calls of the recorder say of the references: constants with the layouts of
// runtime/trace/record.h.
#include "TwinsProducers.h"
#include "TwinsRecording.h"
#include "llvm/IR/Constants.h"

using namespace llvm;

namespace thermocline {

// A tc_group up to its references, low halves first.
static std::vector<uint16_t> wordsOf(const Group &group, uint16_t producers) {
    int64_t start = group.front().offset, end = start;
    uint32_t loads = 0, stores = 0;
    for (const Reference &reference : group) {
        start = std::min(start, reference.offset);
        end = std::max(end, reference.offset + int64_t(reference.bytes));
        (reference.store ? stores : loads)++;
    }
    std::vector<uint16_t> words{uint16_t(group.size()), producers};
    for (uint32_t field : {loads, stores, uint32_t(end - start)}) {
        words.push_back(uint16_t(field));
        words.push_back(uint16_t(field >> 16));
    }
    for (const Reference &reference : group) {
        words.push_back(uint16_t(reference.offset - start));
        words.push_back(uint16_t(reference.bytes << 1 | reference.store));
    }
    return words;
}

// Producers name each other's descriptions, so all are made before any is filled.
void TwinsRecording::describe(const Producers &producers) {
    Type *i16 = Type::getInt16Ty(context), *i32 = Type::getInt32Ty(context);
    StructType *producerType = StructType::get(i32, i16, i16);
    auto fields = [&](const Group &group) {
        return StructType::get(ArrayType::get(i16, wordsOf(group, 0).size()),
                               ArrayType::get(producerType, producers.of(group).size()),
                               ArrayType::get(positions.type(), group.size()));
    };
    for (const Found &found : all)
        for (const Segment &segment : found.segments)
            for (const Group &group : segment.groups)
                groupDescriptions[&group] =
                    makeDescription(fields(group), nullptr, "thermocline.group");
    for (auto [group, own] : groupDescriptions) {
        auto address = [&](GlobalVariable *variable) {
            return ConstantExpr::getPtrToInt(variable, Type::getInt64Ty(context));
        };
        std::vector<Constant *> makers, places;
        for (const Producer &producer : producers.of(*group)) {
            Constant *distance = ConstantExpr::getSub(
                address(groupDescriptions.lookup(producer.group)), address(own));
            makers.push_back(
                ConstantStruct::get(producerType, {ConstantExpr::getTrunc(distance, i32),
                                                   ConstantInt::get(i16, producer.load),
                                                   ConstantInt::get(i16, producer.consumer)}));
        }
        for (const Reference &reference : *group)
            places.push_back(positions.of(*reference.instruction, *own));
        auto *type = cast<StructType>(own->getValueType());
        auto array = [&](unsigned field, ArrayRef<Constant *> of) {
            return ConstantArray::get(cast<ArrayType>(type->getElementType(field)), of);
        };
        std::vector<uint16_t> words = wordsOf(*group, uint16_t(makers.size()));
        own->setInitializer(ConstantStruct::get(
            type, {ConstantDataArray::get(context, words), array(1, makers), array(2, places)}));
    }
}

GlobalVariable *TwinsRecording::makeDescription(Type *type, Constant *value, StringRef name) {
    auto *description =
        new GlobalVariable(module, type, true, GlobalValue::PrivateLinkage, value, name);
    description->setSection("thermocline_groups");
    description->setAlignment(Align(4));
    return description;
}

} // namespace thermocline
