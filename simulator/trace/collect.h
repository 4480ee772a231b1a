// Makes a trace file of a raw stream while the program runs.
#pragma once
#include "simulator/trace/writer.h"

namespace thermocline {

// Beyond a limit records are dropped, and the stream is read on, so that the program does not
// wait.  Which part of a run to record is the recorder's decision, not this one's.
struct CollectLimits {
    uint64_t bytes = UINT64_MAX; // of the file
    uint64_t references = UINT64_MAX;
};

struct Collected {
    uint64_t records = 0, references = 0;
    uint64_t dropped_records = 0; // beyond the limits
    bool complete = false;        // the program said its last word
};

// Reads `fd` to its end.  Does not finish the writer.
Collected collect(int fd, const std::string &name, TraceWriter &, const CollectLimits &);

} // namespace thermocline
