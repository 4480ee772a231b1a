// What far memory is.  Data that leaves is in its region's shadow by then: a back end makes that
// far, or near again, and takes the time that this takes.
#pragma once
#include "settings.h"
#include <cstdint>

namespace tc {

struct Charged {
    uint64_t in_ns = 0, out_ns = 0; // by the emulation: latency + bytes / bandwidth
    uint64_t failed_pages = 0;      // that the kernel left on the other node
};

class BackEnd {
  public:
    virtual void prepare() = 0; // in the engine's thread
    virtual void out(uint64_t shadow, uint64_t bytes, bool first_of_chunk) = 0;
    virtual void flush() = 0; // nothing else is to be done: what was put off
    virtual void in(uint64_t shadow, uint64_t bytes, bool first_of_chunk) = 0;
    Charged charged;
};

BackEnd *make_back_end(const MigrateSettings &);
uint64_t monotonic_ns();

} // namespace tc
