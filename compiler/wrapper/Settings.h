// What the user asked of Thermocline: --thermocline-NAME=VALUE on the command
// line, or else THERMOCLINE_NAME in the environment, so that a build system
// needs no change.
#pragma once
#include "Arguments.h"

namespace thermocline {

struct Settings {
    unsigned context = 0; // callers that tell sites apart
    unsigned budget = 0;  // growth for that, percent of the module; 0: the plugin's default
    bool twins = true;    // recording twins, for `thermocline profile`
    bool annotate = true; // off: the plain compiler
    bool fat = true;      // off: objects hold bitcode only, and compile faster
    bool verbose = false; // say what was done, and what stayed native
    bool help = false;
};

// Takes the --thermocline- options out of `arguments`.
Settings takeSettings(Arguments &arguments);

const char *helpText();

} // namespace thermocline
