// The state of the library in this process, and the slow path that reads it.
#pragma once
#include "config.h"
#include "thread.h"

namespace tc {

struct CallFrame; // callpath/call_path.h

struct State {
    Config config;
    // What serves malloc in this process instead of us, or null.
    const char *stepped_aside;
    bool new_replaced; // operator new is the program's own
    uint64_t started;  // CLOCK_MONOTONIC, ns
    int pid;           // of the process that this state is about
};
extern State state;

// Tiers are classes too, with the same numbers.
inline uint32_t placement_of(uint32_t placement_class) {
    return placement_first_class + placement_class;
}

// Reads the configuration, once.  False only inside that, on the thread that does it: its
// allocations go to mimalloc's default heap.
bool start();

// Who called an entry.
struct Caller {
    Caller(const void *address, const CallFrame *frame = nullptr)
        : address(address), frame(frame) {}
    const void *address;
    const CallFrame *frame; // the entry's own; null where a site was given
};

// One allocation, whatever the mode.  `align` 0: malloc's.  `site` may be null, then
// `caller` tells the module.  Sets errno when it returns null.
struct Request {
    tc_site *site;
    Caller caller;
    size_t size, align;
    bool zero;
    bool by_new; // by operator new: null where that is the program's own
};
void *allocate(const Request &);
void *reallocate(void *, const Request &); // p not null
void release(void *);                      // any pointer that alloc_free does not take, or null
size_t usable(const void *);

// Registers what has to happen around fork.
void handle_forks();

// From now on free() need not look whether a block is the profiling heap's.
void leave_sites_out();

uint64_t nanoseconds(); // CLOCK_MONOTONIC

} // namespace tc
