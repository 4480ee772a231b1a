// The other end of the recording twins: every reference goes to a collector, as the raw stream of
// simulator/trace/raw.h, instead of into a cache model.  `thermocline trace` listens on a socket;
// each process that is recorded connects to it and sends chunks.  docs/trace-format.md.
#pragma once
#include "record.h"
#include "simulator/trace/raw.h"

namespace tc {

struct Config;
struct Recorder;
constexpr unsigned max_watched = 64; // rows of functions

// A watched function that a thread is in.
struct StreamFunction {
    const void *frame; // where its return address is
    uint64_t clock;    // when it was entered
    uint32_t row;
    bool sent; // its entry is in the stream, since the last hole
};

// A thread's own: one chunk that is being filled.
struct StreamBuffer {
    static constexpr uint32_t room = TC_RAW_MAX_PAYLOAD / sizeof(tc_raw_record);
    tc_raw_header header;
    tc_raw_record records[room];
    uint64_t clock;        // of the last record, see tc_recorder::clock
    uint64_t instructions; // up to there
    uint64_t references, dropped;
    uint64_t passed; // references since it last told everybody, while no window is open
    uint64_t window; // that its last record is in
    bool away;       // references have gone unrecorded since the last record
    uint32_t depth;  // of the watched functions that it is in, each once, innermost last
    StreamFunction functions[max_watched];
    uint32_t thread; // from 0
    uintptr_t busy;  // the stack address of the piece of work under way, or 0
    StreamBuffer *next;
};

// Connects to the socket.  On false, `*why` says in a few words what is wrong.
bool stream_start(const Config &, const char **why);
extern bool stream_on; // changes only from true to false, but around fork

// The thread that the recorder belongs to takes part.  Not from within a twin's entry.
void stream_join(Recorder &);

// `row`: of the reference, or TC_RAW_NO_STATIC; `clock`: when it is made.
void stream_reference(Recorder &, uintptr_t address, uint64_t bytes, bool store, uint32_t row,
                      uint64_t clock);
// In place of the recorder's entry of the like name (record.h).
TC_PRESERVE void stream_group(tc_recorder *, uintptr_t address, const tc_group *, uint64_t clock);

// The row of a function that is to be watched, or -1 if there are too many.
int stream_watch(const char *name);

// The calling thread has a block of a site, or is about to give one back; small ones are not
// told (trace_least_block).
void stream_allocated(const void *, uint64_t bytes, uint32_t site);
void stream_released(const void *);
// The calling thread has given pages back to the kernel.
void stream_pages_returned(const void *, uint64_t bytes);

// What the thread's chunk holds is sent.
void stream_flush(Recorder &);
// All threads' chunks and the end are sent; the others should have stopped.
void stream_end();
void stream_after_fork(Recorder *mine);

} // namespace tc
