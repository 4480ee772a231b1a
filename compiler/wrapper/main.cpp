// thermocline-clang, thermocline-clang++, thermocline-flang: the real compiler,
// with what annotation needs added to its command line.  Nothing is forked: the
// wrapper becomes the compiler.
#include "CommandLine.h"
#include "LinkInputs.h"
#include "LinkerOptions.h"
#include "Settings.h"
#include <cerrno>
#include <climits>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <unistd.h>

#define TO_TEXT_(x) #x
#define TO_TEXT(x) TO_TEXT_(x)

namespace thermocline {

static Language languageOf(const std::string &name) {
    if (name.find("flang") != std::string::npos)
        return Language::Fortran;
    return name.find("++") != std::string::npos ? Language::Cxx : Language::C;
}

static std::string ownPath() {
    char path[PATH_MAX];
    ssize_t size = readlink("/proc/self/exe", path, sizeof path);
    if (size <= 0 || size == sizeof path)
        fail(1, "can't read /proc/self/exe; is /proc mounted?");
    return std::string(path, static_cast<size_t>(size));
}

static std::string folderOf(const std::string &path) { return path.substr(0, path.rfind('/')); }

static std::string prefix() {
    const char *given = getenv("THERMOCLINE_PREFIX");
    return given && *given ? given : folderOf(folderOf(ownPath()));
}

// The compilers to try, best first.
static Arguments compilers(Language language) {
    static constexpr struct {
        const char *variable, *name, *oldName;
    } programs[] = {{"THERMOCLINE_CLANG", "clang", "clang"},
                    {"THERMOCLINE_CLANGXX", "clang++", "clang++"},
                    {"THERMOCLINE_FLANG", "flang", "flang-new"}};
    const auto &[variable, name, oldName] = programs[static_cast<int>(language)];
    if (const char *given = getenv(variable); given && *given)
        return {given};
    const std::string version = TO_TEXT(THERMOCLINE_LLVM_MAJOR),
                      folder = "/usr/lib/llvm-" + version;
    return {name + ("-" + version), oldName + ("-" + version), folder + "/bin/" + name};
}

static std::string digitsAt(const std::string &text, size_t place) {
    size_t end = text.find_first_not_of("0123456789", place);
    return text.substr(place, end == std::string::npos ? end : end - place);
}

static std::string findProgram(const std::string &name) {
    const char *folders = getenv("PATH");
    if (name.find('/') != std::string::npos || !folders)
        return name;
    const std::string list = std::string(folders) + ":";
    for (size_t start = 0, end; (end = list.find(':', start)) != std::string::npos; start = end + 1)
        if (std::string path = list.substr(start, end - start) + "/" + name;
            access(path.c_str(), X_OK) == 0)
            return path;
    return name;
}

// The LLVM version that the name of a compiler, or of what it links to, tells:
// clang++-19, /usr/lib/llvm-19/bin/clang.  Empty if none does; running it to ask
// would cost more than all the rest of this program.
static std::string versionOf(const std::string &compiler) {
    char path[PATH_MAX];
    const bool known = realpath(findProgram(compiler).c_str(), path);
    for (const std::string &name : {compiler, std::string(known ? path : "")}) {
        const std::string base = baseName(name);
        if (size_t dash = base.rfind('-');
            dash != std::string::npos && base.find("lang") != std::string::npos)
            if (std::string digits = digitsAt(base, dash + 1);
                dash + 1 + digits.size() == base.size())
                return digits;
        if (size_t folder = name.rfind("/llvm-"); folder != std::string::npos)
            return digitsAt(name, folder + 6);
    }
    return "";
}

// The plugin for this compiler's LLVM: lld loads no other.
static std::string pluginPath(Language language) {
    const std::string folder = prefix() + "/lib/thermocline/";
    const std::string own = TO_TEXT(THERMOCLINE_LLVM_MAJOR), compiler = compilers(language)[0],
                      version = versionOf(compiler);
    if (version.empty() || version == own)
        return folder + "thermocline-plugin.so";
    std::string other = folder + "thermocline-plugin-" + version + ".so";
    if (!fileExists(other))
        fail(1, compiler + " is LLVM " + version + ", and the plugin is for LLVM " + own +
                    ": name a compiler of LLVM " + own + ", or build the plugin for " + version +
                    " as " + other);
    return other;
}

static std::string escape(const std::string &text, const char *special, bool percent) {
    std::string out;
    for (char c : text) {
        char code[4] = {c, 0};
        if (c && strchr(special, c)) {
            if (percent)
                snprintf(code, sizeof code, "%%%02X", static_cast<unsigned char>(c));
            else
                snprintf(code, sizeof code, "\\%c", c == '\n' ? 'n' : c == '\t' ? 't' : c);
        }
        out += code;
    }
    return out;
}

// The link itself, so that `thermocline sites --sweep` can repeat it.
static std::string linkNote(Language language, const Arguments &arguments) {
    static constexpr const char *names[] = {"clang", "clang++", "flang"};
    char *folder = getcwd(nullptr, 0);
    std::string note = "link\t" + escape(folder ? folder : ".", "\t\n\\", false) + "\t" +
                       escape(folderOf(ownPath()), "\t\n\\", false) + "/thermocline-" +
                       names[static_cast<int>(language)];
    free(folder);
    for (const std::string &argument : arguments)
        note += "\t" + escape(argument, "\t\n\\", false);
    return note + "\n";
}

static void append(Arguments &out, std::initializer_list<std::string> more) {
    out.insert(out.end(), more);
}

// The options that make the compiler leave bitcode with source locations behind, and
// keep two allocation calls from becoming one.
// A program without -g gets no debug sections from them: -Rpass asks for
// locations only (and for remarks, none of which match).
static void addCompileOptions(const CommandLine &line, const Settings &settings, Arguments &before,
                              Arguments &after) {
    append(before, {"-Rpass=^$"});
    if (line.language != Language::Fortran)
        append(before, {"-fdebug-info-for-profiling"});
    append(after, {"-flto=full", "-fpass-plugin=" + pluginPath(line.language)});
    // A program's own temporary objects are seen by lld only.
    if (line.stage == Stage::Compile && settings.fat && !line.emitLlvm)
        append(after, {"-ffat-lto-objects"});
    else
        append(after, {"-fno-fat-lto-objects"});
}

static void addLinkOptions(const CommandLine &line, const Settings &settings,
                           const std::string &notes, Arguments &before, Arguments &after) {
    const std::string plugin = pluginPath(line.language);
    const std::string library = prefix() + "/lib/thermocline/" +
                                (line.fullyStatic ? "libthermocline.a" : "libthermocline.so");
    for (const std::string &file : {plugin, library})
        if (!fileExists(file))
            fail(1, file + " is missing: run make build, or set THERMOCLINE_PREFIX");

    // GNU ld takes a version script that names symbols nobody defines; so do we.
    append(before, {"-Xlinker", "--undefined-version"});
    append(after, {"-fuse-ld=lld", "-Xlinker", "--fat-lto-objects"});
    append(after, {"-Xlinker", "--load-pass-plugin=" + plugin});
    if (!line.sources)
        append(after, {"-flto=full"});
    // Last of the libraries, so that a malloc which the program brings comes first.
    append(after, {"-Xlinker", "--push-state", "-Xlinker", "--no-as-needed", "-Xlinker",
                   "--no-whole-archive", "-Xlinker", line.fullyStatic ? "-Bstatic" : "-Bdynamic",
                   "-Xlinker", library, "-Xlinker", "--pop-state"});
    if (!line.fullyStatic)
        append(after, {"-Xlinker", "-rpath", "-Xlinker", prefix() + "/lib/thermocline"});

    std::string options = "module=" + escape(baseName(line.output), "%;\n", true) +
                          ";context=" + std::to_string(settings.context) +
                          ";twins=" + (settings.twins ? "on" : "off") +
                          ";native=" + writeMemoryFile("notes", notes);
    if (settings.budget)
        options += ";budget=" + std::to_string(settings.budget);
    setenv("THERMOCLINE_PLUGIN_OPTIONS", options.c_str(), 1);
}

// Options that would win over ours, whatever their order.
static void dropOverruled(CommandLine &line, const Settings &settings) {
    Arguments dropped;
    for (std::string &argument : line.arguments)
        if (argument.compare(0, 9, "--ld-path") == 0 || argument.compare(0, 9, "-fuse-ld=") == 0 ||
            argument == "-fno-lto" || argument.compare(0, 10, "-flto=thin") == 0) {
            dropped.push_back(argument);
            // Kept in place, as the inputs are known by position.
            argument = "-flto=full";
        }
    if (!settings.verbose)
        return;
    for (const std::string &one : dropped)
        fprintf(stderr, "thermocline: %s is dropped: annotation needs full LTO and lld\n",
                one.c_str());
}

static std::string whyLeftAlone(const CommandLine &line, const Settings &settings) {
    if (!settings.annotate)
        return "--thermocline-annotate=off";
    if (!line.leftAlone.empty() || line.stage != Stage::Link)
        return line.leftAlone;
    if (line.userStart)
        return "no C library in this link";
    if (wrapsAllocation(linkerOptions(line.arguments)))
        return "--wrap sends its allocation routines elsewhere";
    if (line.fullyStatic && !fileExists(prefix() + "/lib/thermocline/libthermocline.a"))
        return "-static, and there is no static libthermocline";
    return "";
}

[[noreturn]] static void become(Language language, const Arguments &arguments) {
    Arguments list = arguments;
    size_t bytes = 0;
    for (const std::string &argument : list)
        bytes += argument.size() + 1 + sizeof(char *);
    if (bytes > 1 << 17) { // the kernel has a limit, and response files exist because of it
        std::string text;
        for (const std::string &argument : list)
            text += "\"" + escape(argument, "\"\\", false) + "\"\n";
        list = {"@" + writeMemoryFile("arguments", text)};
    }
    const Arguments names = compilers(language);
    for (const std::string &name : names) {
        std::vector<char *> vector = {const_cast<char *>(name.c_str())};
        for (const std::string &argument : list)
            vector.push_back(const_cast<char *>(argument.c_str()));
        vector.push_back(nullptr);
        execvp(name.c_str(), vector.data());
        if (errno != ENOENT)
            break;
    }
    fail(1, "can't run " + names[0] + ": " + strerror(errno) +
                "; install it, or name a compiler with THERMOCLINE_CLANG, _CLANGXX or _FLANG");
}

static int run(const std::string &name, Arguments arguments) {
    const Language language = languageOf(baseName(name));
    const Arguments given = expandResponseFiles(arguments);
    arguments = given;
    const Settings settings = takeSettings(arguments);
    if (settings.help) {
        fputs(helpText(), stdout);
        return 0;
    }
    CommandLine line = parse(language, arguments);
    if (line.stage == Stage::Other)
        become(language, line.arguments);
    if (std::string why = whyLeftAlone(line, settings); !why.empty()) {
        if (settings.verbose)
            fprintf(stderr, "thermocline: not annotated: %s\n", why.c_str());
        become(language, line.arguments);
    }

    dropOverruled(line, settings);
    Arguments before, after;
    if (line.sources)
        addCompileOptions(line, settings, before, after);
    if (line.stage == Stage::Link) {
        std::string notes;
        for (const std::string &sentence : examineInputs(line)) {
            notes += "native: " + sentence + "\n";
            if (settings.verbose)
                fprintf(stderr, "thermocline: not annotated: %s\n", sentence.c_str());
        }
        notes += linkNote(language, given);
        addLinkOptions(line, settings, notes, before, after);
        for (const std::string &option : dropOptionsLldLacks(line.arguments))
            if (settings.verbose)
                fprintf(stderr, "thermocline: %s is dropped: lld has no such option\n",
                        option.c_str());
    }
    // flang knows no such brackets, and warns of none of our options.
    if (language != Language::Fortran)
        for (Arguments *list : {&before, &after}) {
            list->insert(list->begin(), "--start-no-unused-arguments");
            list->push_back("--end-no-unused-arguments");
        }
    Arguments all = before;
    all.insert(all.end(), line.arguments.begin(), line.arguments.end());
    all.insert(all.end(), after.begin(), after.end());
    become(language, all);
}

} // namespace thermocline

int main(int count, char **values) {
    return thermocline::run(values[0], thermocline::Arguments(values + 1, values + count));
}
