// Finds a link's files as the linker would, and reports on them.
#include "LinkInputs.h"
#include "ObjectFile.h"
#include <cstdlib>
#include <map>

namespace thermocline {

static void addFolders(Arguments &out, std::string_view list) {
    while (!list.empty()) {
        std::string_view folder = list.substr(0, list.find(':'));
        if (!folder.empty())
            out.emplace_back(folder);
        list.remove_prefix(std::min(folder.size() + 1, list.size()));
    }
}

// The file that -lNAME means; empty if it is a shared library, or not found.
static std::string findArchive(const CommandLine &line, const Input &input) {
    Arguments folders = line.libraryFolders;
    if (const char *more = getenv("LIBRARY_PATH"))
        addFolders(folders, more);
    for (const char *folder : {"/lib/x86_64-linux-gnu", "/usr/lib/x86_64-linux-gnu", "/usr/lib"})
        folders.push_back(folder);
    for (const std::string &folder : folders) {
        if (input.library[0] == ':') {
            std::string file = folder + "/" + input.library.substr(1);
            if (fileExists(file))
                return file;
            continue;
        }
        std::string stem = folder + "/lib" + input.library;
        if (!input.preferStatic && fileExists(stem + ".so"))
            return "";
        if (fileExists(stem + ".a"))
            return stem + ".a";
    }
    return "";
}

// Start-up files that a build system names itself (libtool, for C++ libraries).
static bool isStartupFile(const std::string &file) {
    std::string name = baseName(file);
    bool system = file.compare(0, 5, "/usr/") == 0 || file.compare(0, 5, "/lib/") == 0;
    return system && name.find("crt") != std::string::npos && name.size() > 2 &&
           name.compare(name.size() - 2, 2, ".o") == 0;
}

static std::string reason(const Object &object) {
    switch (object.content) {
    case Content::ThinLto:
        return "bitcode for ThinLTO, not compiled by thermocline-clang";
    case Content::Rewritten:
        return "rewritten after compilation (by ld -r, objcopy, strip or GNU as), so that its "
               "bitcode may no longer match";
    case Content::Native:
        return object.producer.empty() ? "native code, from an assembler source perhaps"
                                       : "native code from " + object.producer;
    default:
        return "";
    }
}

static std::string shorten(const Arguments &names) {
    std::string out;
    for (size_t i = 0; i < names.size() && i < 5; i++)
        out += (i ? " " : "") + names[i];
    if (names.size() > 5)
        out += " and " + std::to_string(names.size() - 5) + " more";
    return out;
}

static void report(Arguments &sentences, const std::string &file,
                   const std::vector<Object> &objects) {
    std::map<std::string, Arguments> members; // by reason
    for (const Object &object : objects)
        if (std::string why = reason(object); !why.empty())
            members[why].push_back(object.member);
    for (const auto &[why, names] : members) {
        bool archive = !names[0].empty();
        sentences.push_back(file + ": " + why +
                            (archive ? " (" + std::to_string(names.size()) + " of " +
                                           std::to_string(objects.size()) +
                                           " members: " + shorten(names) + ")"
                                     : ""));
    }
}

Arguments examineInputs(CommandLine &line) {
    Arguments sentences;
    for (const Input &input : line.inputs) {
        if (input.source)
            continue;
        std::string file = input.library.empty() ? input.file : findArchive(line, input);
        std::string contents;
        if (file.empty() || isStartupFile(file) || !readFile(file, contents))
            continue;
        std::vector<Object> objects = inspect(file, contents);
        report(sentences, file, objects);
        std::string before = contents;
        hideBitcode(contents, objects);
        if (contents != before) {
            // Through -Wl, since -x would make a source of it.
            std::string copy = "-Wl," + writeMemoryFile("object", contents);
            if (line.arguments[input.position] == "-l") {
                line.arguments[input.position] = "-Xlinker";
                copy.erase(0, 4);
                line.arguments[input.position + 1] = copy;
            } else {
                line.arguments[input.position] = copy;
            }
        }
    }
    return sentences;
}

} // namespace thermocline
