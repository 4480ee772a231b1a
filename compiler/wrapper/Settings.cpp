// Reads the user's settings; Settings.h lists them.
#include "Settings.h"
#include <charconv>
#include <cstdlib>

namespace thermocline {

static unsigned number(const std::string &name, const std::string &value, unsigned most) {
    unsigned out = 0;
    const char *end = value.data() + value.size();
    auto [stop, error] = std::from_chars(value.data(), end, out);
    if (value.empty() || error != std::errc() || stop != end || out > most)
        fail(2, name + "=" + value + " is not a whole number from 0 to " + std::to_string(most));
    return out;
}

static bool onOff(const std::string &name, const std::string &value) {
    if (value == "on" || value == "1")
        return true;
    if (value == "off" || value == "0")
        return false;
    fail(2, name + "=" + value + " is neither on nor off");
}

// False if there is no such setting.  `spelling` is what the user wrote.
static bool set(Settings &settings, std::string_view name, const std::string &spelling,
                const std::string &value) {
    if (name == "context")
        settings.context = number(spelling, value, 16);
    else if (name == "budget")
        settings.budget = number(spelling, value, 1000000);
    else if (name == "twins")
        settings.twins = onOff(spelling, value);
    else if (name == "annotate")
        settings.annotate = onOff(spelling, value);
    else if (name == "fat")
        settings.fat = onOff(spelling, value);
    else if (name == "verbose")
        settings.verbose = onOff(spelling, value);
    else
        return false;
    return true;
}

Settings takeSettings(Arguments &arguments) {
    static constexpr struct {
        const char *variable, *name;
    } variables[] = {
        {"THERMOCLINE_CONTEXT", "context"},   {"THERMOCLINE_BUDGET", "budget"},
        {"THERMOCLINE_TWINS", "twins"},       {"THERMOCLINE_FAT", "fat"},
        {"THERMOCLINE_ANNOTATE", "annotate"}, {"THERMOCLINE_VERBOSE", "verbose"},
    };
    Settings settings;
    for (const auto &[variable, name] : variables)
        if (const char *value = getenv(variable); value && *value)
            set(settings, name, variable, value);

    const std::string prefix = "--thermocline-";
    Arguments kept;
    for (const std::string &argument : arguments) {
        if (argument.compare(0, prefix.size(), prefix) != 0) {
            kept.push_back(argument);
            continue;
        }
        size_t equals = argument.find('=');
        std::string spelling = argument.substr(0, equals);
        std::string name = spelling.substr(prefix.size());
        if (argument == "--thermocline-help")
            settings.help = true;
        else if (argument == "--thermocline-verbose")
            settings.verbose = true;
        else if (equals == std::string::npos)
            fail(2, argument + ": unknown, or a value is missing; see --thermocline-help");
        else if (!set(settings, name, spelling, argument.substr(equals + 1)))
            fail(2, "there is no option " + spelling + "; see --thermocline-help");
    }
    arguments = kept;
    return settings;
}

const char *helpText() {
    return R"(thermocline-clang, thermocline-clang++, thermocline-flang: drop-in compilers whose
programs tell `thermocline` which allocation site each block of memory came from.
All options of clang and flang work as ever.  Ours, each also read from the
environment (THERMOCLINE_CONTEXT=2, ...):

  --thermocline-context=N       tell sites apart by up to N callers (0 to 16; default 0)
  --thermocline-budget=PERCENT  how much the code may grow for that, at each link
  --thermocline-twins=off       no recording twins: smaller, but `profile` sees no accesses
  --thermocline-fat=off         objects hold bitcode only: faster to compile, but GNU nm,
                                strip and ld can't read them
  --thermocline-annotate=off    the plain compiler
  --thermocline-verbose         say at a link what was not annotated, and why
  --thermocline-help            this text

THERMOCLINE_CLANG, THERMOCLINE_CLANGXX and THERMOCLINE_FLANG name other compilers of
the same LLVM version; THERMOCLINE_PREFIX names another installation's folder.
)";
}

} // namespace thermocline
