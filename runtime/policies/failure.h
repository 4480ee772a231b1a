// The line that says why a call failed.
#pragma once
#include "text.h"

namespace tc {

// Begins this thread's line anew.
Line failure();

// What errno means, short.
const char *because(int number);

} // namespace tc
