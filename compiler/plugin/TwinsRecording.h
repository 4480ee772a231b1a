// Puts the recording into one twin's body.
#pragma once
#include "TwinsProducers.h"
#include "TwinsStrips.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/Module.h"
#include "llvm/IR/PassManager.h"
#include <map>
#include <vector>

namespace thermocline {

class TwinsRecording {
  public:
    TwinsRecording(llvm::Module &, bool findsStrips);
    void insert(llvm::Function &twin, llvm::FunctionAnalysisManager &);

  private:
    void insertRecorder(llvm::Function &);
    void writeClock(llvm::Instruction &before);
    void readClock(llvm::BasicBlock &, llvm::BasicBlock::iterator);
    void shareClock(llvm::Instruction &);
    void finishClock(llvm::Function &);
    void countInstructions(llvm::ArrayRef<Segment>, std::vector<Strip> &, llvm::Function &);
    void advanceClock();
    void recordSegment(const Segment &);
    void recordStrip(const Strip &);
    void recordGroup(const Group &, llvm::Value *now, uint64_t firstStamp);
    // Each of these ends a segment, since the recorder takes its own stamps there.
    void recordBulk(llvm::Instruction &);
    bool recordMasked(llvm::IntrinsicInst &);
    bool recordTargetMasked(llvm::IntrinsicInst &);
    void recordLanes(llvm::Instruction &at, llvm::Value *pointer, llvm::Value *mask,
                     uint64_t laneBytes, bool store);
    void recordScattered(llvm::Instruction &at, llvm::Value *pointers, llvm::Value *mask,
                         uint64_t laneBytes, bool store);
    void describe(const Producers &);
    llvm::GlobalVariable *describe(const Group &);
    llvm::GlobalVariable *describe(const Strip &);
    llvm::GlobalVariable *makeDescription(llvm::Type *, llvm::Constant *value, llvm::StringRef);
    llvm::GlobalVariable *describe(const std::vector<uint16_t> &words, llvm::StringRef name);

    llvm::Module &module;
    llvm::LLVMContext &context;
    const llvm::DataLayout &layout;
    bool findsStrips;
    llvm::Value *recorder = nullptr; // of the twin at hand
    // Groups with producers, or whose loads are some, have descriptions of their own.
    llvm::DenseMap<const Group *, llvm::GlobalVariable *> ownDescriptions;
    // By how much the clock advances where an instruction stands, beyond its references.
    llvm::MapVector<llvm::Instruction *, uint64_t> advances;
    llvm::AllocaInst *clock = nullptr, *walks = nullptr;
    // Equal groups share one description, and so do strips.
    std::map<std::vector<uint16_t>, llvm::GlobalVariable *> descriptions;
};

// A call of the recorder's interface (runtime/trace/record.h), which keeps all registers.
llvm::CallInst *callRecorder(llvm::IRBuilderBase &, llvm::Module &, llvm::StringRef name,
                             llvm::Type *result, llvm::ArrayRef<llvm::Value *>);

} // namespace thermocline
