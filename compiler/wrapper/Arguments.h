// Plain work on argument lists: response files, and writing lists back.
#pragma once
#include <string>
#include <string_view>
#include <vector>

namespace thermocline {

using Arguments = std::vector<std::string>;

// Replaces every @FILE by FILE's arguments, nested ones too.  An @FILE that
// can't be read stays as it is: the compiler says what is wrong with it.
Arguments expandResponseFiles(const Arguments &arguments);

// Splits text as the compilers do: blanks part, quotes and backslashes protect.
Arguments splitQuoted(std::string_view text);

// A file in memory that stays open across exec, and its path there.
std::string writeMemoryFile(const char *name, std::string_view contents);

// Says what is wrong on stderr, and ends the program with `status`.
[[noreturn]] void fail(int status, const std::string &message);

bool readFile(const std::string &path, std::string &contents);
bool fileExists(const std::string &path);
std::string baseName(const std::string &path);

} // namespace thermocline
