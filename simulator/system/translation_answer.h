// What translation did, as JSON.
#pragma once
#include "simulator/system/answer.h"

namespace thermocline {

nlohmann::json translation_json(const Translation &translation, const MissStatistics &misses);

} // namespace thermocline
