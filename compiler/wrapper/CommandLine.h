// What a compiler command asks for: as much of it as the wrapper has to know.
#pragma once
#include "Arguments.h"

namespace thermocline {

enum class Language { C, Cxx, Fortran };

enum class Stage {
    Other,   // no code comes out: -E, -M, -fsyntax-only, --version, no input; or assembly, -S
    Compile, // -c
    Link,    // a program or library, perhaps compiling on the way
};

struct Input {
    size_t position;     // in `arguments`
    std::string file;    // empty for a library, or a flag to the linker
    std::string library; // NAME of -lNAME
    bool source;         // the compiler makes code from it
    bool preferStatic;   // -Bstatic was in force
};

struct CommandLine {
    Language language;
    Arguments arguments; // without response files and "--"
    Stage stage = Stage::Link;
    std::vector<Input> inputs;
    Arguments libraryFolders; // -L
    std::string output = "a.out";
    bool shared = false;
    bool fullyStatic = false;
    bool emitLlvm = false;
    bool sources = false;   // an input is compiled
    bool userStart = false; // -nostdlib or -nodefaultlibs without -lc
    std::string leftAlone;  // why Thermocline does nothing here; empty: it does
};

CommandLine parse(Language language, Arguments arguments);

} // namespace thermocline
