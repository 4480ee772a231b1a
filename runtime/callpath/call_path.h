// Sites of code that was not annotated: one for each path of return addresses that leads to an
// allocation (docs/preload.md).
#pragma once
#include <cstddef>
#include <cstdint>

namespace tc {

class JsonFile;

// What __builtin_frame_address(0) points to in a function that is called, or jumped to, with
// nothing between it and its caller.
struct CallFrame {
    uintptr_t caller_bp, return_address;
};

// Paths have `context` callers after the one that allocates.  False without memory for the tables.
bool start_call_paths(unsigned context);

// The site of a path: never 0.  `routine` is for the site's record.
uint32_t call_path_site(const CallFrame *, const char *routine);

// For a profile or report: how many callers are told apart and the modules that paths name, as
// members of its object; and what is worth a note (or null).
void put_call_paths(JsonFile &);
const char *call_path_note();

// Around fork.
void lock_call_paths();
void unlock_call_paths();

// For tests.
uint32_t call_path_nodes();

} // namespace tc
