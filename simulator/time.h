// Simulated time: integer picoseconds, so that each memory can keep its own clock without
// rounding against the others.  2^63 ps are 106 days.
#pragma once
#include <cstdint>

namespace thermocline {

using Ps = uint64_t;

constexpr Ps never = UINT64_MAX; // later than everything

} // namespace thermocline
