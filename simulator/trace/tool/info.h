// What `thermocline-trace info` prints.
#pragma once
#include "simulator/trace/reader.h"

namespace thermocline {

// `count`: reads every record, which checks the whole file, and counts by owner.
nlohmann::ordered_json describe(TraceReader &, bool count);

} // namespace thermocline
