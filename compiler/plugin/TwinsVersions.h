// A twin's two versions: the recording one, and a plain one that only looks, at entry and at
// each loop header, whether it is to go on as the other.  Both are in one body, and change over
// at the same points, in the middle of the function's work (docs/method-bursts.md).
#pragma once
#include "llvm/IR/Function.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/ValueHandle.h"
#include "llvm/Transforms/Utils/ValueMapper.h"
#include <vector>

namespace llvm {
class LoopInfo;
class ScalarEvolution;
} // namespace llvm

namespace thermocline {

// A loop's header, cut behind its phis.
struct SwitchPoint {
    llvm::BasicBlock *top;
    uint64_t work;       // instructions of an iteration, loops inside that have points left out
    bool calls;          // code of its own or of others
    bool changes = true; // over to the other version; else work is counted, and that is all
};

// False if the versions can't share a body: labels whose address is taken, setjmp, tokens.
bool canChangeOver(const llvm::Function &);

// Cuts the twin's loop headers.  A loop that is known to be short has no point, and where very
// many values live one only counts.
std::vector<SwitchPoint> cutLoopHeaders(llvm::Function &twin, llvm::LoopInfo &,
                                        llvm::ScalarEvolution &);

// The word that says what the module's twins are to do: see tc_module::recording.
llvm::GlobalVariable *recordingWord(llvm::Module &);

// Whether that says to record.
llvm::Value *isRecording(llvm::IRBuilder<> &, llvm::Module &);

// Of the program's code, in which time may pass.
bool isCallOfCode(const llvm::Instruction &);
// A copy or fill of more than a line, or of who knows how much.
bool isLongCopy(const llvm::Instruction &);

// At a twin's entry: calls `plain` instead while nothing is to be recorded.
void callUnlessRecording(llvm::Function &twin, llvm::Function &plain);

class TwinsVersions {
  public:
    // Copies the body before anything in it is recorded.
    TwinsVersions(llvm::Function &twin, std::vector<SwitchPoint> points);
    ~TwinsVersions();
    // Once all is recorded: the copy becomes part of the twin.  `recorder` is the value that
    // the recording knows its thread by, `clock` its variable, which is still to be turned
    // into registers; so is the variable that is returned.
    llvm::AllocaInst *join(llvm::Value *recorder, llvm::AllocaInst *clock);
    // After that: values that both versions make.
    void repairValues(llvm::Value *recorder);

  private:
    void makeEntry();
    void countWork(const SwitchPoint &, llvm::Value *recorder);
    void joinPoint(const SwitchPoint &, llvm::Value *recorder, llvm::AllocaInst *clock);
    void countCalls(llvm::Value *recorder);
    void takeWork(llvm::Instruction &before, llvm::Value *work);
    void tellWork(llvm::Instruction &before);
    void dropIdleTelling();

    llvm::Function &twin;
    std::vector<SwitchPoint> points;
    llvm::Function *holder; // of the copy, until they are joined
    llvm::ValueToValueMapTy map;
    std::vector<std::pair<llvm::WeakVH, llvm::Instruction *>> pairs; // what makes a value
    std::vector<std::pair<llvm::WeakVH, llvm::Instruction *>> calls;
    llvm::AllocaInst *left = nullptr; // work that the plain version need not tell yet
    std::vector<llvm::StoreInst *> told;
    // Where the recording version is entered, and what its thread is known by there.
    std::vector<std::pair<llvm::BasicBlock *, llvm::Value *>> entered;
};

} // namespace thermocline
