// What of a thread's stack may be read.
#pragma once
#include <cstdint>

namespace tc {

// The end of what is surely mapped from `sp` on.  On the calling thread's own stack that is the
// stack's end; on another (a signal's, a coroutine's), the end of the page.
uintptr_t readable_until(uintptr_t sp);

} // namespace tc
