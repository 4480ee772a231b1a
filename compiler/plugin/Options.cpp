// Reads THERMOCLINE_PLUGIN_OPTIONS; Options.h says what is in it.
#include "Options.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringRef.h"
#include <cstdlib>

using namespace llvm;

namespace thermocline {

static std::string decode(StringRef text) {
    std::string out;
    for (size_t i = 0; i < text.size(); i++) {
        if (text[i] == '%' && i + 2 < text.size() && isHexDigit(text[i + 1]) &&
            isHexDigit(text[i + 2])) {
            out += static_cast<char>(hexFromNibbles(text[i + 1], text[i + 2]));
            i += 2;
        } else {
            out += text[i];
        }
    }
    return out;
}

static bool set(Options &options, StringRef name, StringRef value) {
    if (name == "module")
        options.module = decode(value);
    else if (name == "context")
        return !value.getAsInteger(10, options.context) && options.context <= 16;
    else if (name == "budget")
        return !value.getAsInteger(10, options.budget);
    else if (name == "twins" && (value == "on" || value == "off"))
        options.twins = value == "on";
    else if (name == "native")
        options.native = decode(value);
    else if (name == "notes")
        options.notes = decode(value);
    else
        return false;
    return true;
}

Options readOptions() {
    Options options;
    const char *text = std::getenv("THERMOCLINE_PLUGIN_OPTIONS");
    SmallVector<StringRef> parts;
    StringRef(text ? text : "").split(parts, ';', -1, /*KeepEmpty=*/false);
    for (StringRef part : parts) {
        auto [name, value] = part.split('=');
        if (!set(options, name, value))
            options.bad.push_back(part.str());
    }
    return options;
}

} // namespace thermocline
