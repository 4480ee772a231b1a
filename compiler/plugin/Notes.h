// What the passes leave for each other in the module, and for people in the
// table: notes on what was left out, and each copy's context.
#pragma once
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/IR/Function.h"
#include "llvm/IR/Module.h"
#include <string>
#include <vector>

namespace thermocline {

// The twins pass's output (docs/internals.md).
inline constexpr llvm::StringLiteral twinSection = "thermocline_text";
inline constexpr llvm::StringLiteral twinsName = "thermocline.twins";
inline constexpr llvm::StringLiteral functionsName = "thermocline.functions";
inline constexpr llvm::StringLiteral recordingName = "thermocline.recording";

// A note for the table that is also told to the person who links.
void addNote(llvm::Module &module, const llvm::Twine &text);
// A note for the table only.
void addTableNote(llvm::Module &module, const llvm::Twine &text);
// Notes that the wrapper made, one a line: it has told them already.
void addNotesFromFile(llvm::Module &module, llvm::StringRef path);
std::vector<std::string> notesOf(const llvm::Module &module);
// Appends the plugin's own notes to a file, or prints them on stderr.
void report(const llvm::Module &module, llvm::StringRef path);

// The frames by which this copy of a function is reached, innermost first.
void setContext(llvm::Function &function, llvm::ArrayRef<llvm::StringRef> frames);
llvm::SmallVector<llvm::StringRef> contextOf(const llvm::Function &function);

} // namespace thermocline
