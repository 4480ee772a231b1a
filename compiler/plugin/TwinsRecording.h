// Puts the recording into one twin's body.
#pragma once
#include "TwinsPositions.h"
#include "TwinsProducers.h"
#include "TwinsReferences.h"
#include "TwinsVersions.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/Module.h"
#include "llvm/IR/PassManager.h"
#include <vector>

namespace thermocline {

class TwinsRecording {
  public:
    // For so many twins.
    TwinsRecording(llvm::Module &, size_t twins);
    // First for all twins what is to be recorded of them, then the recording.
    // `plainVersion`: null if the twin is to have both versions.
    void find(llvm::Function &twin, const llvm::Function &plain, llvm::Function *plainVersion,
              llvm::FunctionAnalysisManager &);
    void insert(const llvm::DenseMap<llvm::Function *, llvm::Function *> &twins);

  private:
    struct Found {
        llvm::Function *twin;
        const llvm::Function *plain;
        std::vector<Segment> segments;
        std::vector<SwitchPoint> points;
        llvm::Function *plainVersion; // of its own, or null if both are in the twin
    };
    void insert(Found &);
    void noteCountingLoops();
    void insertRecorder(llvm::Function &);
    void writeClock(llvm::Instruction &before);
    void readClock(llvm::BasicBlock &, llvm::BasicBlock::iterator);
    void shareClock(llvm::Instruction &);
    void shareClockAtEnds(llvm::Function &);
    void finishClock(llvm::Function &, llvm::AllocaInst *left);
    void countInstructions(const Found &);
    void advanceClock();
    void recordSegment(const Segment &);
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
    // Entering and leaving the twin: TwinsRegions.cpp.
    void recordRegion(llvm::Function &twin, const llvm::Function &plain);
    llvm::Instruction *ifWatched(llvm::Instruction &before, uint64_t function);
    void tell(llvm::StringRef entry, llvm::Instruction &before, uint64_t function);
    void leave(llvm::ReturnInst &, uint64_t function);
    void fillFunctions();
    llvm::GlobalVariable *makeDescription(llvm::Type *, llvm::Constant *value, llvm::StringRef);

    llvm::Module &module;
    llvm::LLVMContext &context;
    const llvm::DataLayout &layout;
    TwinsPositions positions;
    std::vector<Found> all;
    llvm::Value *recorder = nullptr; // of the twin at hand
    llvm::MapVector<const Group *, llvm::GlobalVariable *> groupDescriptions;
    // By how much the clock advances where an instruction stands, beyond its references.
    llvm::MapVector<llvm::Instruction *, uint64_t> advances;
    llvm::Instruction *entered = nullptr; // behind it the recorder and the clock are known
    llvm::GlobalVariable *functions;      // an array of tc_function
    std::vector<llvm::Constant *> functionRows;
    llvm::AllocaInst *clock = nullptr;
};

// The table of functions, which TwinsRecording fills: one more than twins.
llvm::GlobalVariable *makeFunctions(llvm::Module &, size_t twins);

// A call of the recorder's interface (runtime/trace/record.h), which keeps all registers.
llvm::CallInst *callRecorder(llvm::IRBuilderBase &, llvm::Module &, llvm::StringRef name,
                             llvm::Type *result, llvm::ArrayRef<llvm::Value *>);

} // namespace thermocline
