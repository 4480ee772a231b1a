// Linker options; LinkerOptions.h says what is asked of them.
#include "LinkerOptions.h"
#include <algorithm>

namespace thermocline {

static bool startsWith(std::string_view text, std::string_view prefix) {
    return text.substr(0, prefix.size()) == prefix;
}

static Arguments splitAtCommas(std::string_view text) {
    Arguments out;
    size_t start = 0, comma;
    while ((comma = text.find(',', start)) != std::string_view::npos) {
        out.emplace_back(text.substr(start, comma - start));
        start = comma + 1;
    }
    out.emplace_back(text.substr(start));
    return out;
}

Arguments linkerOptions(const Arguments &arguments) {
    Arguments out;
    for (size_t i = 0; i < arguments.size(); i++) {
        if (startsWith(arguments[i], "-Wl,")) {
            for (std::string &option : splitAtCommas(std::string_view(arguments[i]).substr(4)))
                out.push_back(std::move(option));
        } else if (arguments[i] == "-Xlinker" && i + 1 < arguments.size()) {
            out.push_back(arguments[++i]);
        }
    }
    return out;
}

// Refused by lld 22, and without effect on what the program does.  An option
// that changes the output (--audit, -qmagic) is not here: lld's error stands.
static bool onlyTunesGnuLd(std::string_view option) {
    static constexpr std::string_view names[] = {
        "accept-unknown-input-arch",
        "ctf-share-types",
        "ctf-variables",
        "dynamic-list-cpp-new",
        "dynamic-list-cpp-typeinfo",
        "enable-linker-version",
        "enable-non-contiguous-regions-warnings",
        "disable-linker-version",
        "hash-size",
        "ld-generated-unwind-info",
        "map-whole-files",
        "max-cache-size",
        "no-accept-unknown-input-arch",
        "no-add-needed",
        "no-ctf-variables",
        "no-ld-generated-unwind-info",
        "no-map-whole-files",
        "no-print-map-discarded",
        "no-strip-discarded",
        "no-warn-execstack",
        "no-warn-rwx-segments",
        "no-warn-search-mismatch",
        "print-map-discarded",
        "reduce-memory-overheads",
        "spare-dynamic-tags",
        "strip-discarded",
        "support-old-code",
        "traditional-format",
        "warn-alternate-em",
        "warn-constructors",
        "warn-execstack",
        "warn-multiple-gp",
        "warn-rwx-segments",
        "warn-section-align",
        "warn-textrel",
    };
    if (!startsWith(option, "-"))
        return false;
    option.remove_prefix(startsWith(option, "--") ? 2 : 1);
    option = option.substr(0, option.find('='));
    return std::find(std::begin(names), std::end(names), option) != std::end(names);
}

Arguments dropOptionsLldLacks(Arguments &arguments) {
    Arguments dropped, kept;
    for (size_t i = 0; i < arguments.size(); i++) {
        const std::string &argument = arguments[i];
        if (argument == "-Xlinker" && i + 1 < arguments.size()) {
            if (onlyTunesGnuLd(arguments[i + 1])) {
                dropped.push_back(arguments[i + 1]);
            } else {
                kept.push_back(argument);
                kept.push_back(arguments[i + 1]);
            }
            i++;
        } else if (startsWith(argument, "-Wl,")) {
            std::string left;
            for (const std::string &option : splitAtCommas(std::string_view(argument).substr(4))) {
                if (onlyTunesGnuLd(option))
                    dropped.push_back(option);
                else
                    left += "," + option;
            }
            if (!left.empty())
                kept.push_back("-Wl" + left);
        } else {
            kept.push_back(argument);
        }
    }
    arguments = kept;
    return dropped;
}

bool wrapsAllocation(const Arguments &options) {
    static constexpr std::string_view routines[] = {
        "malloc",        "calloc",   "realloc", "reallocarray", "posix_memalign",
        "aligned_alloc", "memalign", "valloc",  "pvalloc",      "free",
        "_Znwm",         "_Znam",    "_ZdlPv",  "_ZdaPv",
    };
    for (size_t i = 0; i < options.size(); i++) {
        std::string_view option = options[i], symbol;
        if (option == "--wrap" || option == "-wrap")
            symbol = i + 1 < options.size() ? std::string_view(options[i + 1]) : "";
        else if (startsWith(option, "--wrap=") || startsWith(option, "-wrap="))
            symbol = option.substr(option.find('=') + 1);
        if (std::find(std::begin(routines), std::end(routines), symbol) != std::end(routines))
            return true;
    }
    return false;
}

} // namespace thermocline
