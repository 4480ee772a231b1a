// What translation did, as JSON.
#pragma once
#include "simulator/system/answer.h"

namespace thermocline {

// `owners`: names of those whose references missed.
nlohmann::json translation_json(const Translation &translation, const MissStatistics &misses,
                                const std::vector<std::string> &owners);

} // namespace thermocline
