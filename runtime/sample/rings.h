// The kernel's rings of samples: one for each processor, whose events the program's threads
// inherit.
//
// Not one for each thread: threads may begin in ways that nobody tells us of (clone), and the
// kernel lets inherited events be read through rings of processors only.
#pragma once
#include "events.h"

namespace tc::sample {

struct Totals {
    uint64_t samples, lost, throttled, damaged; // lost: records that found no room
    uint64_t truncated;                         // AUX areas that were cut, or whose data collided
    unsigned rings, processors;                 // fewer rings: some processors are not sampled
};

// Whether the kernel lets us: 0, or the errno of what it refused.
int try_event(const Event &);

// Opens the events for all threads that the process has, and for those that they will start.  The
// calling thread must be one of the runtime's own, which it does not sample; it keeps the
// descriptors.  False if there is no ring at all.
bool open_rings(const Event *, unsigned count);

// Sleeps until a ring is a quarter full or the time is over.  By the thread that opened them.
void wait_for_rings(int milliseconds);

// Reads what is there into counts.h.  One thread at a time, any.  `own_thread`: see there.
void drain_rings(uint32_t own_thread);

// In the child of a fork, where the rings are not mapped.
void forget_rings();

const Totals &ring_totals();

} // namespace tc::sample
