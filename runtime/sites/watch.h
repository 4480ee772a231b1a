// The thread that watches a profiled run: samples, and writes the profile now and then.
#pragma once
#include "config.h"

// False when there is no memory for it.  The thread itself starts with the library's constructors,
// or at once if they have run.
bool watch_start(const tc::Config &);

// The process leaves by _exit: the watching thread writes the last profile, since the caller may
// be a signal handler, on any stack and inside anything.
void watch_leave();
