// What a plan says of an address.  A guided run's runtime serves each tier from a range of its own,
// and says where they are before it gives out any of it (runtime/runtime.cpp): what is in the
// first stays near, what is in the last stays far, and all else is for the engine to decide.
#pragma once
#include <cstdint>

namespace tc {

enum class Planned : uint8_t { nothing, near, far };

Planned planned_place(uint64_t address);

} // namespace tc
