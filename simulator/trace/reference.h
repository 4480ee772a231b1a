// A program's references as the simulator reads them, whatever file or pipe they came from.
#pragma once
#include <cstdint>

namespace thermocline {

constexpr uint32_t no_static = UINT32_MAX; // reference of a foreign trace: no instruction known

// What a thread's stream holds beside references, in order with them.
enum class TraceEvent : uint8_t {
    reference,
    allocate,     // address, allocated_bytes(), owner: the site
    release,      // address
    window_begin, // skipped() instructions of the thread since the last record went unrecorded
    enter,        // function(): a function of the region of interest
    leave,
    returned, // address, allocated_bytes(): pages went back to the kernel
    clock,    // the time is `address` ns since recording began: for cursors, which keep it back
};
constexpr unsigned trace_events = 8;

// One memory reference or event of one thread, in the thread's order.
struct Reference {
    uint64_t address = 0;
    uint32_t instruction = no_static; // static instruction: index into the trace's table
    uint32_t owner = 0;               // whose the line is: index into the trace's owners
    uint32_t gap = 0;                 // other instructions of the thread since its last record
    uint32_t bytes = 0;
    TraceEvent event = TraceEvent::reference;
    bool store = false;

    // Of events.
    uint64_t allocated_bytes() const { return uint64_t(instruction) << 27 | bytes; }
    uint64_t skipped() const { return address; }
    uint32_t window() const { return owner; } // of window_begin: its number; 0: no sampling
    uint32_t function() const { return instruction; }

    // By how much the thread's count of instructions grows here: a reference is one itself.
    uint64_t instructions() const {
        return gap + uint64_t(event == TraceEvent::reference) +
               (event == TraceEvent::window_begin ? address : 0);
    }
    bool operator==(const Reference &) const = default;
};
static_assert(sizeof(Reference) == 32);

// What a trace knows of an instruction that refers to memory.
struct StaticInstruction {
    uint32_t bytes = 0; // 0: differs from time to time
    bool store = false;
    // The loads whose values make its address: indices into the same table.  The last
    // dynamic instance of each in the same thread is what a reference waits for.
    uint32_t first_producer = 0, producers = 0; // a range of the trace's producer list
    uint32_t position = 0;                      // "file:line:column function", index into strings
    bool operator==(const StaticInstruction &) const = default;
};

} // namespace thermocline
