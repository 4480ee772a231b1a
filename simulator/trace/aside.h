// Files are written aside and get their name when they are whole.
#pragma once
#include <string>

namespace thermocline {

std::string aside_name(const std::string &path);
void refuse_to_overwrite(const std::string &path, bool overwrite); // throws TraceError
// Removes what was written aside if it can't have the name, and throws TraceError.
void give_name(const std::string &aside, const std::string &path, bool overwrite);

} // namespace thermocline
