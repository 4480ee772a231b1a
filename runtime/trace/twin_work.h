// Whether the twins record, and how much work they have done (docs/method-bursts.md).
#pragma once
#include <cstdint>

struct tc_module;

namespace tc {

// Work of the program's annotated code, about instructions: loops and calls count, each by the
// size of its body, whether it is recorded or not.
struct TwinWork {
    uint64_t plain, recorded;
    unsigned threads; // that are running and have recorded
};
TwinWork twin_work();

// All threads' twins go over to one of TC_TWINS_RUN, ... (record.h), as soon as each comes to a
// loop's header or enters a function.
void trace_tell_twins(uint32_t);
uint32_t trace_twins_told();
// They record once one of the threads has done so much more work.
void trace_record_after(uint64_t work);

// A module's twins are to do as the others'; before any of them runs.
void trace_add_module(tc_module *);
void trace_remove_module(tc_module *);
void trace_work_after_fork(); // in the child

} // namespace tc
