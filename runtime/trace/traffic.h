// The trace profile's side of the library: recording twins switched on, and what they
// cost in memory traffic, by owner.  docs/trace-profile.md.
#pragma once
#include "abi.h"
#include <cstdint>

namespace tc {

struct Config;

struct Traffic {
    uint64_t loads, stores;           // references before any cache
    uint64_t read_bytes, write_bytes; // filled from memory, written back to memory
};

// Memory that is not the profiled heap.
enum NonHeap : unsigned { nonheap_other, nonheap_stack, nonheap_globals, nonheap_kinds };

// Prepares the cache model.  On false, `*why` says what is wrong with the
// configuration, in a few words, and nothing will be recorded.
bool trace_start(const Config &, const char **why);

// Sends calls of a module's functions to their twins.  Before any of them runs; does
// nothing unless trace_start succeeded.
void trace_patch_module(tc_module *);
void trace_watch_functions(const tc_module *); // before any twin runs
void trace_forget_module(tc_module *);

// The process ends: what is to be sent is sent.
void trace_end();

// The calling thread's numbers become complete, for a snapshot that another thread takes.
void trace_complete();

// From any thread, at any time: sums over all threads so far.  sites[i] is site i's;
// sites[0] stays zero.  Numbers of a running thread may lag, by as much as it does in
// the time of the call.
void trace_snapshot(Traffic *sites, uint32_t count, Traffic nonheap[nonheap_kinds]);

// The same by tier, for guided heaps.
void trace_tier_snapshot(Traffic *tiers, unsigned count);

// A block changed hands: what the calling thread did to it before is the last owner's.
void trace_owner_changed(const void *, uint64_t bytes);

// A block comes or goes, while references are sent to a collector.
constexpr uint64_t trace_least_block = 4096; // bytes; smaller ones are not told
extern bool stream_on;
void stream_allocated(const void *, uint64_t bytes, uint32_t site);
void stream_released(const void *);
inline bool trace_streams() { return stream_on; }

// Share of the program's user-mode instructions that ran outside the twins; negative
// when perf is not permitted.
double trace_unseen_share();

} // namespace tc
