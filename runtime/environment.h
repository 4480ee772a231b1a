// The environment, also before libc has set it up.
#pragma once
#include <cstddef>

namespace tc {

// False if the variable is not there, or does not fit.
bool environment_variable(const char *name, char *value, size_t size);

} // namespace tc
