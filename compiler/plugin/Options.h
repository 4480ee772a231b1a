// What the wrapper tells the plugin about this link.
//
// lld loads pass plugins after it has parsed -mllvm, so a plugin's own cl::opt
// is refused there as unknown.  The options come by the environment variable
// THERMOCLINE_PLUGIN_OPTIONS instead: "name=value" separated by ';', where a
// '%', ';' or newline inside a value is written %25, %3B, %0A.
#pragma once
#include <string>
#include <vector>

namespace thermocline {

struct Options {
    std::string module = "a.out"; // base name of the linked file
    unsigned context = 0;         // N: frames kept after frame 0
    unsigned budget = 0;          // growth allowed for contexts, percent of the module; 0: default
    bool twins = true;            // make recording twins
    std::string native;           // file: one note a line for the table, made by the wrapper
    std::string notes;            // file that receives the plugin's notes; empty: stderr
    std::vector<std::string> bad; // options that could not be understood
};

Options readOptions();

} // namespace thermocline
