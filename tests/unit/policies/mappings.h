// What the process has mapped, for "nothing is left".
#pragma once
#include "check.h"
#include "thermocline/policies.h"
#include <dirent.h>
#include <sstream>

// `part` if the last failure's line has it, else the line.
inline std::string said_or_all(const std::string &part) {
    const std::string said = tc_policy_error();
    return said.find(part) != std::string::npos ? part : said;
}

inline std::string mappings_of(uintptr_t start, uintptr_t end) {
    std::istringstream maps(check::read_file("/proc/self/maps"));
    std::string line, found;
    while (std::getline(maps, line)) {
        const uintptr_t first = std::stoull(line, nullptr, 16);
        if (first >= start && first < end)
            found += line + "\n";
    }
    return found;
}

// Address space in use, whole.
inline long mapped_pages() { return std::stol(check::read_file("/proc/self/statm")); }

inline int entries_in(const std::string &directory) {
    DIR *found = opendir(directory.c_str());
    int count = 0;
    while (found && readdir(found))
        count++;
    closedir(found);
    return count - 2; // "." and ".."
}
