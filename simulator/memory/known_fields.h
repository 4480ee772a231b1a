// Options that a part of the simulator has; others are refused by a line that names these.
#pragma once
#include "simulator/memory/config.h"
#include <nlohmann/json.hpp>
#include <string_view>

namespace thermocline {

// `known`: names with spaces between them.  Every part has a "name" besides.
inline void check_fields(const nlohmann::json &part, const char *place, const std::string &name,
                         std::string_view known) {
    const std::string all = " name " + std::string(known) + " ";
    for (const auto &field : part.items())
        if (all.find(" " + field.key() + " ") == std::string::npos)
            throw ConfigError(std::string(place) + "." + field.key() + " is not known: " + name +
                              " takes " + (known.empty() ? "no options" : std::string(known)));
}

} // namespace thermocline
