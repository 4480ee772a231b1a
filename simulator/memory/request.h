// What a memory is asked, and what it answers.
#pragma once
#include "simulator/time.h"
#include <cstdint>

namespace thermocline {

// Why a request is made.  A scheduler may rank by it; every count is kept by it.
enum class Purpose : uint8_t { demand, prefetch, writeback, migration };
constexpr unsigned purposes = 4;

struct Request {
    uint64_t address = 0; // byte address within the memory
    Ps arrival = 0;       // at the memory; not before the last request's
    uint64_t token = 0;   // the caller's, handed back with the completion
    uint32_t bytes = 64;
    bool write = false;
    Purpose purpose = Purpose::demand;
};

// A read's last byte has arrived, or a write was accepted for good.
struct Completion {
    uint64_t token;
    Ps at;
};

} // namespace thermocline
