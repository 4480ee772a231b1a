// The profile of a run in progress, or at its end: docs/internals.md has the format.
#pragma once
#include "config.h"
#include <cstdint>

// Once, before the others: what must be read while it is as the program found it.  False if the
// profile can have no name or no memory.
bool profile_start(const tc::Config &);

// The sampler's own tick; then traffic since the last call goes into the time series, as do the
// sites' resident bytes. `nanoseconds` since the start.
void profile_note_series(uint64_t nanoseconds);

// Writes PREFIX.PID.profile, aside and then in place of the old one.  False if it could not.
bool profile_write(uint64_t nanoseconds, bool complete);

// The child of a fork has its own profile, with its own counts.
void profile_restart_in_child();
