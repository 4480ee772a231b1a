// Threads of the library's own, which the program must not notice.
#pragma once
#include <cstddef>

namespace tc {

// Starts one that never ends.  It gets no signals, and a descriptor table of its own, so that
// what it opens takes no number that the program expects to get.  `stack` may be null.
bool start_own_thread(void *(*)(void *), void *stack, size_t stack_bytes);

} // namespace tc
