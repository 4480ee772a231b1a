// What has to be known of a trace before a machine can be scaled to it: its threads, and how
// much memory it touches.
#pragma once
#include "simulator/trace/reader.h"
#include <nlohmann/json.hpp>
#include <string>

namespace thermocline {

nlohmann::json survey(const std::string &path, const Region &region = {});

} // namespace thermocline
