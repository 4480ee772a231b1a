// Online guidance: sites whose tiers change while the program runs.
//
// The planner is another process.  It reads the profile that the watching thread writes now and
// then, and puts what it decides into PREFIX.PID.moves: a configuration (config.h) of which only
// the tiers' numbers and the sites count.  The watching thread looks for it beside each sample of
// residency, binds each site's memory to its tier and moves what is resident.
#pragma once

namespace tc {

struct Config;
class JsonFile;

// After the profiling heap has its range.  Null, or what went wrong.
const char *online_start(const Config &);

// The watching thread's.
void online_tick();

// Members of the profile's object "online"; nothing if there is no online guidance.
void online_put(JsonFile &);

} // namespace tc
