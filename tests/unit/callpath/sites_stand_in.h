// Sites by key, for tests of call paths without the rest of the runtime.
#pragma once
#include <cstdint>
#include <string>

std::string key_of(uint32_t site);
