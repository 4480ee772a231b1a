// The state of the library in this process, and the slow path that reads it.
#pragma once
#include "config.h"
#include "thread.h"

namespace tc {

struct State {
    Config config;
    // Another malloc (or operator new) than ours serves this process, or null.
    const char *stepped_aside;
    bool new_replaced; // operator new is the program's own
};
extern State state;

// True once the library has read its configuration.  False only inside the start
// itself, on the thread that runs it: such allocations go to mimalloc's default heap.
bool start();

// Heap of the calling thread for a placement; makes it on first use.
mi_heap_t *thread_heap(uint32_t placement);

// One allocation, whatever the mode.  `align` 0: malloc's.  `site` may be null, then
// `caller` tells the module.  Sets errno when it returns null.
struct Request {
    tc_site *site;
    const void *caller;
    size_t size, align;
    bool zero;
    bool by_new; // by operator new
};
void *allocate(const Request &);
void *reallocate(void *, const Request &); // size > 0, p not null
void release(void *);                      // at a multiple of a segment's size, or not mimalloc's
size_t usable(const void *);

// The site that the next un-annotated allocation of this thread belongs to, if any.
inline tc_site *carried_site() { return thread.carried; }

} // namespace tc
