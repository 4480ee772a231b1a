// Makes frames readable, and stable across rebuilds: nothing in them depends on
// addresses, on the order of the input, or on how far the compiler inlined.
#include "SiteKey.h"
#include "AllocationRoutines.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Demangle/Demangle.h"
#include "llvm/IR/DebugInfoMetadata.h"
#include "llvm/IR/Function.h"
#include "llvm/Support/Path.h"
#include <cstdlib>

using namespace llvm;

namespace thermocline {

static constexpr StringLiteral nameAttribute = "thermocline-function";
static constexpr size_t longestName = 80;

std::string oneWord(StringRef text) {
    std::string out;
    for (char c : text)
        out += static_cast<unsigned char>(c) <= ' ' || c == 0x7f ? '_' : c;
    return out;
}

static SmallString<256> fullPath(const DIFile *file) {
    SmallString<256> path;
    if (!sys::path::is_absolute(file->getFilename()))
        path = file->getDirectory();
    sys::path::append(path, file->getFilename());
    sys::path::remove_dots(path, /*remove_dot_dot=*/true);
    return path;
}

std::string fileText(const DIFile *file) {
    SmallString<256> path = fullPath(file);
    StringRef name = sys::path::filename(path);
    StringRef folder = sys::path::filename(sys::path::parent_path(path));
    if (folder.empty() || folder == "/")
        return oneWord(name);
    return oneWord((folder + "/" + name).str());
}

bool isLibraryHeader(const DIFile *file) {
    SmallString<256> path = fullPath(file);
    StringRef text = path;
    return text.starts_with("/usr/include/") || text.starts_with("/usr/lib/") ||
           text.contains("/include/c++/");
}

struct Demangled {
    std::string scopes, name; // "ns::Class<T>::", "function"
};

static Demangled demangle(StringRef symbol) {
    ItaniumPartialDemangler demangler;
    std::string mangled = symbol.str();
    if (demangler.partialDemangle(mangled.c_str()) || !demangler.isFunction())
        return {"", mangled};
    auto take = [](char *text) {
        std::string out = text ? text : "";
        std::free(text);
        return out;
    };
    std::string scopes = take(demangler.getFunctionDeclContextName(nullptr, nullptr));
    std::string name = take(demangler.getFunctionBaseName(nullptr, nullptr));
    return {scopes.empty() ? "" : scopes + "::", name};
}

static std::string scopesText(const DIScope *scope) {
    std::string out;
    for (; scope; scope = scope->getScope()) {
        StringRef name = scope->getName();
        if (isa<DINamespace>(scope) && name.empty())
            name = "(anonymous namespace)";
        if (isa<DIFile, DICompileUnit, DILexicalBlockBase>(scope) || name.empty())
            continue;
        out = (name + "::" + out).str();
    }
    return out;
}

// With full debug information clang splits an OpenMP region in two: the code in
// "f.omp_outlined_debug__", and "f.omp_outlined", which only calls it.
static constexpr StringLiteral debugSuffix = "_debug__";

static StringRef regionName(const DISubprogram *subprogram) {
    StringRef name = subprogram->getName();
    if (name.contains(".omp_outlined"))
        name.consume_back(debugSuffix);
    return name;
}

// A function that the compiler made only to call `inner`: no source frame.
static bool isTrampoline(const DISubprogram *outer, const DISubprogram *inner) {
    return outer->getLinkageName().starts_with(".omp_task_entry.") ||
           (inner && inner->getName() != outer->getName() &&
            regionName(inner) == regionName(outer) && inner->getName().ends_with(debugSuffix));
}

static std::string subprogramName(const DISubprogram *subprogram) {
    StringRef linkage = subprogram->getLinkageName();
    StringRef name = regionName(subprogram);
    // C++ scopes are missing where there are line tables only; the linkage name is
    // there either way, and keys have to be the same either way.
    std::string scopes =
        linkage.starts_with("_Z") ? demangle(linkage).scopes : scopesText(subprogram->getScope());
    std::string text = oneWord(scopes + (name.empty() ? linkage : name).str());
    return text.empty() ? "?" : text.substr(0, longestName);
}

void rememberName(Function &function) {
    if (!function.getSubprogram() && !function.hasFnAttribute(nameAttribute))
        function.addFnAttr(nameAttribute, function.getName());
}

std::string functionName(const Function &function) {
    if (const DISubprogram *subprogram = function.getSubprogram())
        return subprogramName(subprogram);
    StringRef name = function.getName();
    if (function.hasFnAttribute(nameAttribute))
        name = function.getFnAttribute(nameAttribute).getValueAsString();
    Demangled parts = demangle(name);
    return oneWord(parts.scopes + parts.name).substr(0, longestName);
}

std::string readableName(const std::string &name) {
    size_t suffix = name.find('.');
    if (!StringRef(name).starts_with("_Z") || suffix == std::string::npos)
        return name;
    Demangled parts = demangle(StringRef(name).take_front(suffix));
    return parts.scopes + parts.name + name.substr(suffix);
}

SourcePosition sourcePosition(const Instruction &instruction) {
    const DILocation *location = instruction.getDebugLoc();
    if (!location)
        return {readableName(functionName(*instruction.getFunction())), "", 0, 0};
    const DILocation *best = location;
    while (best && isLibraryHeader(best->getFile()))
        best = best->getInlinedAt();
    if (!best)
        best = location;
    return {readableName(subprogramName(best->getScope()->getSubprogram())),
            fileText(best->getFile()), best->getLine(), best->getColumn()};
}

FrameId FrameTable::intern(StringRef text) {
    auto [place, isNew] = ids.try_emplace(text, texts.size());
    if (isNew)
        texts.push_back(text.str());
    return place->second;
}

Frames FrameTable::frames(const CallBase &call, bool withLibrary) {
    Frames out;
    const DILocation *location = call.getDebugLoc();
    if (!location) {
        out.push_back(intern(functionName(*call.getFunction()) + "@?:0"));
        return out;
    }
    const Function *callee = directCallee(call);
    const DISubprogram *inner = callee ? callee->getSubprogram() : nullptr;
    for (; location; location = location->getInlinedAt()) {
        const DISubprogram *subprogram = location->getScope()->getSubprogram();
        bool hidden = isLibraryHeader(location->getFile()) || isTrampoline(subprogram, inner);
        inner = subprogram;
        if (hidden && !withLibrary)
            continue;
        std::string &name = names[subprogram];
        if (name.empty())
            name = subprogramName(subprogram);
        std::string text =
            name + "@" + fileText(location->getFile()) + ":" + utostr(location->getLine());
        if (location->getColumn())
            text += ":" + utostr(location->getColumn());
        out.push_back(intern(text));
    }
    return out;
}

Frames FrameTable::userFrames(const CallBase &call) { return frames(call, false); }
Frames FrameTable::allFrames(const CallBase &call) { return frames(call, true); }

} // namespace thermocline
