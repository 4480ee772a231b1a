// Code that no unwind table tells about, and that has frame pointers.
#include "paths.h"

__attribute__((noinline)) uint32_t without_table(Call call, int depth) {
    volatile int kept = depth;
    const uint32_t site = depth > 0 ? without_table(call, depth - 1) : call();
    kept = kept + 1;
    return site;
}
