// Which memories there are, and whether a request for them makes sense.
#pragma once
#include "nodes.h"
#include "policies.h"

namespace tc {

enum class Memories { fast, big, both };

// The caller's memory, or the detected one; checked: its nodes are there and may be used.  Null
// after a failure.
const tc_memory *checked_memory(const tc_memory *given, tc_memory &detected);

// Have those memories so many bytes free?
bool has_room(const tc_memory &, Memories, size_t bytes);

// The different nodes of those memories.
NodeSet nodes_of(const tc_memory &, Memories);

} // namespace tc
