// Source frames of a call, as they appear in site keys (docs/internals.md).
#pragma once
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/IR/InstrTypes.h"
#include <string>
#include <vector>

namespace llvm {
class DIFile;
class DISubprogram;
} // namespace llvm

namespace thermocline {

using FrameId = unsigned;
using Frames = llvm::SmallVector<FrameId, 6>;

// Frames as small numbers, so that contexts are cheap to compare and to keep.
class FrameTable {
  public:
    // The call's inline chain, innermost first, without library-header frames.
    Frames userFrames(const llvm::CallBase &call);
    // The same with library-header frames, for calls that have no other.
    Frames allFrames(const llvm::CallBase &call);
    llvm::StringRef text(FrameId frame) const { return texts[frame]; }
    FrameId intern(llvm::StringRef text);

  private:
    Frames frames(const llvm::CallBase &call, bool withLibrary);
    llvm::StringMap<FrameId> ids;
    std::vector<std::string> texts;
    llvm::DenseMap<const llvm::DISubprogram *, std::string> names;
};

// Blanks and control characters become '_': " < " separates a key's frames, and a
// plan has a site a line.
std::string oneWord(llvm::StringRef text);

// Copies have other symbols: without debug information, the source's name has to
// be kept before the first copy is made.
void rememberName(llvm::Function &function);

// The function as a person knows it.
std::string functionName(const llvm::Function &function);

// Where an instruction stands in the source: the innermost frame of its inline chain that is not
// in a library header, if there is one.  Without debug information, its function alone.
struct SourcePosition {
    std::string function, file; // as in site keys
    unsigned line, column;      // 0: not known
};
SourcePosition sourcePosition(const llvm::Instruction &instruction);

// Without the mangling that a part of a C++ function ("_ZN4grid5solveEv.omp_outlined") keeps in
// site keys.
std::string readableName(const std::string &name);

// "dir/file.c" of a path: its last two components once "." and ".." are resolved.
std::string fileText(const llvm::DIFile *file);

// A header of the compiler or the system, whose frames nobody wants to read.
bool isLibraryHeader(const llvm::DIFile *file);

} // namespace thermocline
