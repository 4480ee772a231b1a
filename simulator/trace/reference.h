// A program's references as the simulator reads them, whatever file or pipe they came from.
#pragma once
#include <cstdint>

namespace thermocline {

constexpr uint32_t no_static = UINT32_MAX; // reference of a foreign trace: no instruction known

// One memory reference of one thread, in the thread's order.
struct Reference {
    uint64_t address = 0;
    uint32_t instruction = no_static; // static instruction: index into the trace's table
    uint32_t owner = 0;               // whose the line is: index into the trace's owners
    uint32_t gap = 0;                 // instructions of the thread since its last reference
    uint32_t bytes = 0;
    bool store = false;
};

// What a trace knows of an instruction that refers to memory.
struct StaticInstruction {
    uint32_t bytes = 0; // 0: differs from time to time
    bool store = false;
    // The loads whose values make its address: indices into the same table.  The last
    // dynamic instance of each in the same thread is what a reference waits for.
    uint32_t first_producer = 0, producers = 0; // a range of the trace's producer list
    uint32_t position = 0;                      // "file:line function", index into strings
};

// What a thread's stream holds beside references, in order with them.
enum class TraceEvent : uint8_t {
    reference,
    allocate,     // address, bytes, owner: the site
    release,      // address
    window_begin, // recording goes on after a gap of `gap` instructions that nobody recorded
    enter,        // a function of the region of interest
    leave,
};

} // namespace thermocline
