// The environment, also before libc has set it up.
#pragma once
#include <cstddef>

namespace tc {

// False if the variable is not there, or does not fit.
bool environment_variable(const char *name, char *value, size_t size);

// No loader, so one module; _dl_find_object must not be asked there before libc is ready.
bool is_static_process();

} // namespace tc
