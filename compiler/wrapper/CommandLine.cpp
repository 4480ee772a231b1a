// Reads a clang or flang command line.  Unknown options are taken to stand
// alone; a wrong guess only makes the wrapper see an input too many.
#include "CommandLine.h"
#include "LinkerOptions.h"
#include <algorithm>

namespace thermocline {

static bool startsWith(std::string_view text, std::string_view prefix) {
    return text.substr(0, prefix.size()) == prefix;
}

template <size_t N> static bool isOneOf(std::string_view text, const std::string_view (&list)[N]) {
    return std::find(std::begin(list), std::end(list), text) != std::end(list);
}

// Options whose value is the next argument.
static bool takesValue(std::string_view option) {
    static constexpr std::string_view options[] = {
        "-o",
        "-x",
        "-I",
        "-D",
        "-U",
        "-L",
        "-l",
        "-u",
        "-T",
        "-z",
        "-e",
        "-A",
        "-B",
        "-F",
        "-G",
        "-J",
        "-MF",
        "-MT",
        "-MQ",
        "-MJ",
        "-include",
        "-include-pch",
        "-imacros",
        "-isystem",
        "-idirafter",
        "-iquote",
        "-iprefix",
        "-iwithprefix",
        "-isysroot",
        "-iwithprefixbefore",
        "-ivfsoverlay",
        "-cxx-isystem",
        "-isystem-after",
        "-iwithsysroot",
        "-arch",
        "-target",
        "-Xlinker",
        "-Xclang",
        "-Xassembler",
        "-Xpreprocessor",
        "-Xanalyzer",
        "-Xflang",
        "-Xopenmp-target",
        "-mllvm",
        "-mmlir",
        "--param",
        "-module-dir",
        "-resource-dir",
        "-working-directory",
        "-serialize-diagnostics",
        "--serialize-diagnostics",
        "-dependency-file",
        "-rpath",
        "--sysroot",
        "-framework",
        "-main-file-name",
        "-dumpdir",
        "-b",
    };
    return isOneOf(option, options);
}

static bool producesNoCode(std::string_view option) {
    static constexpr std::string_view options[] = {
        "-E",
        "-M",
        "-MM",
        "-S",
        "-fsyntax-only",
        "--analyze",
        "-emit-ast",
        "--version",
        "--help",
        "-dumpversion",
        "-dumpmachine",
        "-rewrite-objc",
        "-verify-pch",
        "--preprocess",
        "--assemble",
        "-cc1",
        "-cc1as",
        "-fc1",
        "-fdebug-unparse",
        "-fdebug-dump-parse-tree",
        "-extract-api",
    };
    return isOneOf(option, options) || startsWith(option, "-print-") ||
           startsWith(option, "--print-") || startsWith(option, "--help");
}

static bool isSource(const std::string &file) {
    static constexpr std::string_view extensions[] = {
        "c",   "i",   "cc",  "cp",  "cxx", "cpp", "c++", "C",   "CC",  "CPP",  "CXX", "ii",  "m",
        "mi",  "mm",  "M",   "mii", "h",   "hh",  "hpp", "hxx", "H",   "s",    "S",   "sx",  "asm",
        "bc",  "ll",  "f",   "for", "ftn", "F",   "fpp", "FOR", "FTN", "FPP",  "f77", "f90", "f95",
        "f03", "f08", "f18", "F77", "F90", "F95", "F03", "F08", "F18", "cppm", "ixx",
    };
    std::string name = baseName(file);
    size_t dot = name.rfind('.');
    return name == "-" || (dot != std::string::npos && isOneOf(name.substr(dot + 1), extensions));
}

static bool isHeader(const std::string &file) {
    static constexpr std::string_view extensions[] = {"h", "hh", "hpp", "hxx", "H"};
    size_t dot = file.rfind('.');
    return dot != std::string::npos && isOneOf(std::string_view(file).substr(dot + 1), extensions);
}

// These bring their own allocator, or shadow memory that ours would upset.
static bool bringsAllocator(std::string_view sanitizers) {
    static constexpr std::string_view harmless[] = {"undefined", "bounds", "integer", "null",
                                                    "alignment", "shift",  "return",  "cfi"};
    while (!sanitizers.empty()) {
        size_t comma = std::min(sanitizers.find(','), sanitizers.size());
        std::string_view one = sanitizers.substr(0, comma);
        if (!isOneOf(one, harmless) && !startsWith(one, "cfi-") && !startsWith(one, "signed-") &&
            !startsWith(one, "unsigned-") && !startsWith(one, "float-") &&
            !startsWith(one, "implicit-") && !startsWith(one, "local-bounds"))
            return true;
        sanitizers.remove_prefix(std::min(comma + 1, sanitizers.size()));
    }
    return false;
}

// libthermocline exists for this machine's 64-bit Linux only.
static bool isForeignTarget(std::string_view target) {
    return !startsWith(target, "x86_64") || target.find("linux") == std::string_view::npos ||
           target.find("x32") != std::string_view::npos ||
           target.find("musl") != std::string_view::npos;
}

namespace {
struct Parser {
    CommandLine line;
    std::string language; // of -x
    bool preferStatic = false, ownLibraries = false, namesLibc = false, noCode = false;
    bool onlyHeaders = true;

    void addFile(const std::string &file) {
        bool source = language.empty() || language == "none" ? isSource(file) : true;
        bool header = language.find("header") != std::string::npos ||
                      ((language.empty() || language == "none") && isHeader(file));
        line.sources |= source;
        onlyHeaders &= header;
        line.inputs.push_back({line.arguments.size(), file, "", source, preferStatic});
    }
    void addLibrary(const std::string &name) {
        namesLibc |= name == "c";
        line.inputs.push_back({line.arguments.size(), "", name, false, preferStatic});
    }
    void addLinkerOptions(const Arguments &options) {
        for (const std::string &option : options) {
            if (option == "-Bstatic" || option == "-static" || option == "-dn")
                preferStatic = true;
            else if (option == "-Bdynamic" || option == "-dy")
                preferStatic = false;
            else if (option == "-r" || option == "--relocatable")
                line.leftAlone = "-r keeps its result for another link";
            else if (option == "-shared" || option == "--shared" || option == "-Bshareable")
                line.shared = true;
        }
        // `clang -Wl,--version` runs the linker, with no file at all.
        line.inputs.push_back({line.arguments.size(), "", "", false, preferStatic});
    }

    void addOption(const std::string &option, const std::string &value) {
        if (option == "-c" || option == "--compile" || option == "--precompile")
            line.stage = Stage::Compile;
        else if (producesNoCode(option))
            noCode = true;
        else if (option == "-o")
            line.output = value;
        else if (option == "-x")
            language = value;
        else if (option == "-l")
            addLibrary(value);
        else if (option == "-L")
            line.libraryFolders.push_back(value);
        else if (option == "-target")
            checkTarget(value);
        else if (option == "-emit-llvm")
            line.emitLlvm = true;
        else if (option == "-shared" || option == "--shared")
            line.shared = true;
        else if (option == "-static" || option == "--static" || option == "-static-pie")
            line.fullyStatic = preferStatic = true;
        else if (option == "-nostdlib" || option == "-nodefaultlibs" || option == "-nolibc" ||
                 option == "--no-standard-libraries")
            ownLibraries = true;
        else if (option == "-r")
            line.leftAlone = "-r keeps its result for another link";
        else if (option == "-ffreestanding")
            line.leftAlone = "-ffreestanding: there is no malloc to annotate";
        else if (option == "-m32" || option == "-mx32" || option == "-m16")
            line.leftAlone = option + ": only 64-bit programs can be annotated";
        else
            addJoined(option);
    }

    void addJoined(const std::string &option) {
        if (startsWith(option, "-fsanitize=")) {
            if (bringsAllocator(std::string_view(option).substr(11)))
                line.leftAlone = option + " brings its own allocator";
        } else if (startsWith(option, "--target="))
            checkTarget(option.substr(9));
        else if (startsWith(option, "-o") && !startsWith(option, "-objc"))
            line.output = option.substr(2);
        else if (startsWith(option, "--output="))
            line.output = option.substr(9);
        else if (startsWith(option, "-l"))
            addLibrary(option.substr(2));
        else if (startsWith(option, "-L"))
            line.libraryFolders.push_back(option.substr(2));
        else if (startsWith(option, "-x"))
            language = option.substr(2);
        else if (startsWith(option, "-Wl,"))
            addLinkerOptions(linkerOptions({option}));
    }

    void checkTarget(const std::string &target) {
        if (isForeignTarget(target))
            line.leftAlone = "target " + target + " is not this machine's";
    }
};
} // namespace

CommandLine parse(Language language, Arguments arguments) {
    Parser parser;
    CommandLine &line = parser.line;
    line.language = language;
    bool onlyFiles = false;
    for (size_t i = 0; i < arguments.size(); i++) {
        std::string argument = arguments[i];
        if (!onlyFiles && argument == "--") {
            onlyFiles = true; // left out: our own options have to follow the files
            continue;
        }
        if (onlyFiles && startsWith(argument, "-"))
            argument = "./" + argument;
        if (onlyFiles || argument == "-" || !startsWith(argument, "-")) {
            parser.addFile(argument);
            line.arguments.push_back(argument);
            continue;
        }
        std::string value;
        bool hasValue = takesValue(argument) && i + 1 < arguments.size();
        if (hasValue)
            value = arguments[++i];
        if (argument == "-Xlinker" && hasValue)
            parser.addLinkerOptions({value});
        else if (argument != "-Xlinker")
            parser.addOption(argument, value);
        line.arguments.push_back(argument);
        if (hasValue)
            line.arguments.push_back(value);
    }
    if (parser.noCode || line.inputs.empty())
        line.stage = Stage::Other;
    else if (parser.onlyHeaders && line.sources)
        line.stage = Stage::Compile; // to a precompiled header
    line.userStart = parser.ownLibraries && !parser.namesLibc && !line.shared;
    return line;
}

} // namespace thermocline
