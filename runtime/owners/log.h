// What each stretch of the profiled heap was, until when: enough to say, once the run is over,
// whose an address was at a time.  Any thread adds, one reads.
#pragma once
#include <cstdint>

namespace tc::owners {

// From `address` on, `bytes` belonged to `site` until `nanoseconds`.
struct Change {
    uint64_t nanoseconds; // 0: not written yet
    uint64_t address, bytes, site;
};

bool log_start(); // false when there is no memory for it

// By the thread that frees or takes, before the owner changes.  Memory without an owner is left
// out.
void log_release(const void *from, uint64_t bytes);

uint64_t log_count();
const Change &log_entry(uint64_t);
uint64_t log_full_at(); // nanoseconds; 0: everything found room

// The owners of now, neighbours of one site together.
void each_owner(void (*)(void *context, const Change &), void *context);

} // namespace tc::owners
