// Puts the recording into one twin's body.
#pragma once
#include "llvm/ADT/DenseMap.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/Module.h"
#include <map>
#include <vector>

namespace thermocline {

// One reference at a constant distance from a base address.
struct Reference {
    llvm::Instruction *instruction;
    llvm::Value *base;
    int64_t offset;
    uint64_t bytes;
    llvm::Align align; // of base + offset
    bool store;
};

// An instruction of the machine whose lanes a mask switches.
bool isTargetMasked(const llvm::IntrinsicInst &);

// True if the function has anything to record.
bool hasReferences(const llvm::Function &);

class TwinsRecording {
  public:
    explicit TwinsRecording(llvm::Module &);
    void insert(llvm::Function &twin);

  private:
    using References = std::vector<Reference>;

    void insertRecorder(llvm::Function &);
    void collect(llvm::Instruction &, References &);
    void addReference(References &, llvm::Instruction &, llvm::Value *pointer, uint64_t bytes,
                      llvm::Align, bool store);
    void writeClock(llvm::Instruction &before);
    void readClock(llvm::BasicBlock &, llvm::BasicBlock::iterator);
    void shareClock(llvm::Instruction &);
    void finishClock(llvm::Function &);
    void recordSegment(References &);
    void recordGroup(llvm::ArrayRef<Reference>, llvm::Value *now, uint64_t firstStamp);
    // Each of these ends a segment, since the recorder takes its own stamps there.
    void recordBulk(llvm::Instruction &);
    bool recordMasked(llvm::IntrinsicInst &);
    bool recordTargetMasked(llvm::IntrinsicInst &);
    void recordLanes(llvm::Instruction &at, llvm::Value *pointer, llvm::Value *mask,
                     uint64_t laneBytes, bool store);
    void recordScattered(llvm::Instruction &at, llvm::Value *pointers, llvm::Value *mask,
                         uint64_t laneBytes, bool store);
    llvm::GlobalVariable *describe(llvm::ArrayRef<Reference>);

    llvm::Module &module;
    llvm::LLVMContext &context;
    const llvm::DataLayout &layout;
    llvm::Value *recorder = nullptr; // of the twin at hand
    llvm::AllocaInst *clock = nullptr;
    // Equal groups share one description.
    std::map<std::vector<uint16_t>, llvm::GlobalVariable *> descriptions;
};

// A call of the recorder's interface (runtime/trace/record.h), which keeps all registers.
llvm::CallInst *callRecorder(llvm::IRBuilderBase &, llvm::Module &, llvm::StringRef name,
                             llvm::Type *result, llvm::ArrayRef<llvm::Value *>);

} // namespace thermocline
