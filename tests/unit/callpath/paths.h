// What the tests of call paths call.
#pragma once
#include <cstdint>

using Call = uint32_t (*)();

uint32_t without_table(Call, int depth);
