// What the parts of the stream share; for them alone.  Compiled without vector registers, like
// recorder.cpp: twins call this in the middle of loops.
#pragma once
#include "recorder.h"
#include "stream.h"
#include "stream_socket.h"

namespace tc {

struct StreamState {
    StreamSocket socket;
    unsigned char lock;
    const void *holder; // the thread that has it
    uint32_t threads;
    StreamBuffer *buffers;
    // Sampling windows: open for `window` references, then closed for (period - 1) times as many.
    uint64_t budget, left;
    uint64_t phase_left;
    uint64_t window, period;
    uint64_t counted; // since the window was opened or closed
    uint64_t number;  // of the window that is open, or the last
    uint64_t window_begin;
    uint64_t instructions; // of all threads, at the last window's end
    bool open;
    bool begun;
    bool timed;          // recording has a beginning or an end that is still to come
    uint64_t looked;     // at the time: of the processor's clock
    bool only_functions; // what runs outside the watched functions is left out
    const Config *config;
};
extern StreamState stream;

inline void stream_lock() {
    while (__atomic_exchange_n(&stream.lock, 1, __ATOMIC_ACQUIRE))
        __builtin_ia32_pause();
    __atomic_store_n(&stream.holder, __builtin_thread_pointer(), __ATOMIC_RELAXED);
}
inline void stream_unlock() {
    __atomic_store_n(&stream.holder, nullptr, __ATOMIC_RELAXED);
    __atomic_store_n(&stream.lock, 0, __ATOMIC_RELEASE);
}
inline void stream_give_up() { __atomic_store_n(&stream_on, false, __ATOMIC_RELAXED); }

// With the lock held.
bool stream_send(tc_raw_chunk_kind, const void *payload, uint32_t bytes, uint32_t records);

// --- A thread's records: stream.cpp. ---
// Room for a record, which says the time since the last one: not yet part of `instructions`.
tc_raw_record &stream_record(StreamBuffer &);
// Instructions since the last record, up to this time of the clock.
inline uint64_t since_last(StreamBuffer &b, uint64_t clock) {
    uint64_t passed = clock > b.clock ? (clock - b.clock) / TC_STAMPS_PER_REFERENCE : 0;
    b.clock = clock > b.clock ? clock : b.clock;
    return passed;
}
// A piece of work was abandoned: a signal's handler left it by longjmp.
void stream_abandoned();
// Not within itself: what a signal's handler records on top of it is dropped.
template <class Work> void stream_guarded(Recorder &r, Work work) {
    if (!__atomic_load_n(&stream_on, __ATOMIC_RELAXED))
        return;
    StreamBuffer *b = r.stream;
    if (!b)
        return;
    auto here = reinterpret_cast<uintptr_t>(__builtin_frame_address(0));
    if (b->busy) [[unlikely]] {
        if (here < b->busy) {
            b->dropped++;
            return;
        }
        stream_abandoned();
    }
    b->busy = here;
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    work(*b);
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    b->busy = 0;
}

// --- Functions: stream_functions.cpp. ---
// Before a reference: the functions that the thread is in and the stream does not know of.
void stream_announce_entered(StreamBuffer &);
void stream_functions_announce(); // with the lock held: the table anew

// --- Tables: stream_tables.cpp. ---
bool stream_tables_start();  // false: no memory
void stream_tables_forget(); // a forked child announces anew

// A description and what it says.
struct Description {
    const void *address;
    const tc_reference *references;
    uint32_t count;
    const tc_producer *producers;
    uint32_t producer_count;
    const tc_position *positions; // or null
};
Description description_of(const tc_group &);
// The row of a description's first reference, announced when it is first seen.
uint32_t description_row(const Description &);
uint32_t owner_row(Recorder &, uint32_t owner);

// --- Sampling windows: stream_windows.cpp. ---
void stream_windows_start(uint64_t budget);
// Opens and closes the recording by time; often, while `timed`.
void stream_windows_look();
// With the lock held.  So many more references were recorded (or passed, while none is open).
void stream_windows_turn(uint64_t references);

// --- Page sizes: stream_pages.cpp. ---
void stream_pages_start();
// With the lock held: tells of large pages, if it is time.
void stream_pages_look(bool at_end);

} // namespace tc
