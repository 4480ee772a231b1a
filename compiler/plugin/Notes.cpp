// Notes and contexts live in metadata, which clones of a function inherit and
// which never reaches the machine code.
#include "Notes.h"
#include "llvm/IR/Constants.h"
#include "llvm/IR/Metadata.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/raw_ostream.h"

using namespace llvm;

namespace thermocline {

static constexpr StringLiteral ownNotes = "thermocline.notes";
static constexpr StringLiteral tableNotes = "thermocline.table-notes";
static constexpr StringLiteral contextKind = "thermocline.context";

static void add(Module &module, StringRef list, StringRef text) {
    LLVMContext &context = module.getContext();
    module.getOrInsertNamedMetadata(list)->addOperand(
        MDNode::get(context, MDString::get(context, text)));
}

void addNote(Module &module, const Twine &text) { add(module, ownNotes, text.str()); }

void addTableNote(Module &module, const Twine &text) { add(module, tableNotes, text.str()); }

void addNotesFromFile(Module &module, StringRef path) {
    auto file = MemoryBuffer::getFile(path, /*IsText=*/true);
    if (!file) {
        addNote(module, "could not read the list of native objects " + path);
        return;
    }
    SmallVector<StringRef> lines;
    (*file)->getBuffer().split(lines, '\n', -1, /*KeepEmpty=*/false);
    for (StringRef line : lines)
        addTableNote(module, line);
}

static void collect(const Module &module, StringRef list, std::vector<std::string> &out) {
    if (const NamedMDNode *notes = module.getNamedMetadata(list))
        for (const MDNode *note : notes->operands())
            out.push_back(cast<MDString>(note->getOperand(0))->getString().str());
}

std::vector<std::string> notesOf(const Module &module) {
    std::vector<std::string> out;
    collect(module, ownNotes, out);
    collect(module, tableNotes, out);
    return out;
}

void report(const Module &module, StringRef path) {
    std::vector<std::string> notes;
    collect(module, ownNotes, notes);
    if (notes.empty())
        return;
    if (!path.empty()) {
        std::error_code error;
        raw_fd_ostream file(path, error, sys::fs::CD_OpenAlways, sys::fs::FA_Write,
                            sys::fs::OF_Append);
        if (!error) {
            for (const std::string &note : notes)
                file << note << "\n";
            return;
        }
    }
    for (const std::string &note : notes)
        errs() << "thermocline: " << note << "\n";
}

void setContext(Function &function, ArrayRef<StringRef> frames) {
    LLVMContext &context = function.getContext();
    SmallVector<Metadata *> strings;
    for (StringRef frame : frames)
        strings.push_back(MDString::get(context, frame));
    function.setMetadata(contextKind, MDNode::get(context, strings));
}

SmallVector<StringRef> contextOf(const Function &function) {
    SmallVector<StringRef> frames;
    if (const MDNode *node = function.getMetadata(contextKind))
        for (const MDOperand &frame : node->operands())
            frames.push_back(cast<MDString>(frame)->getString());
    return frames;
}

} // namespace thermocline
