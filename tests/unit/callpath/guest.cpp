// Calls back, from a module that can be unloaded.
#include "paths.h"

// The same in both guests, at the same place.
extern "C" uint32_t call_back(Call callback) {
    volatile uint32_t before = 1;
    const uint32_t site = callback();
    return before ? site : 0;
}

// At the same place, but its call is not.
extern "C" uint32_t call_back_elsewhere(Call callback) {
    volatile uint32_t before = GUEST;
    if (GUEST == 2)
        before = before * 3 + 1;
    const uint32_t site = callback();
    return before ? site : 0;
}
