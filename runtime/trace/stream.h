// The other end of the recording twins: every reference goes to a collector, as the raw stream of
// simulator/trace/raw.h, instead of into a cache model.  `thermocline trace` listens on a socket;
// each process that is recorded connects to it and sends chunks.  docs/trace-format.md.
#pragma once
#include "record.h"
#include "simulator/trace/raw.h"

namespace tc {

struct Recorder;

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
    uint32_t thread; // from 0
    uint32_t busy;   // a signal's handler that records meanwhile is dropped
    StreamBuffer *next;
};

// Connects to the socket.  On false, `*why` says in a few words what is wrong.
bool stream_start(const char *socket, uint64_t budget, const char **why);
extern bool stream_on; // changes only from true to false, but around fork

// The thread that the recorder belongs to takes part.  Not from within a twin's entry.
void stream_join(Recorder &);

// `row`: of the reference, or TC_RAW_NO_STATIC; `clock`: when it is made.
void stream_reference(Recorder &, uintptr_t address, uint64_t bytes, bool store, uint32_t row,
                      uint64_t clock);
// In place of the recorder's entries of like names (record.h).
TC_PRESERVE void stream_group(tc_recorder *, uintptr_t address, const tc_group *, uint64_t clock);
TC_PRESERVE void stream_strip(tc_recorder *, const tc_strip *, const tc_walk *, uint64_t iterations,
                              uint64_t clock);

// What the thread's chunk holds is sent.
void stream_flush(Recorder &);
// All threads' chunks and the end are sent; the others should have stopped.
void stream_end();
void stream_after_fork(Recorder *mine);

} // namespace tc
