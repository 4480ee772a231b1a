// What the heap tells a stream: blocks, and pages that go back to the kernel.
#include "stream_state.h"

namespace tc {

namespace {

template <class Work> void tell(Work work) {
    if (!tc_recorder_here)
        return; // the thread has recorded nothing
    Recorder &r = *reinterpret_cast<Recorder *>(tc_recorder_here);
    stream_guarded(r, [&](StreamBuffer &b) {
        if (!b.window && !b.away && stream.open && stream.number == 1)
            b.window = 1; // the thread's first record
        work(r, b);
    });
}

void send_event(Recorder &r, StreamBuffer &b, tc_raw_record_kind kind, const void *p,
                uint64_t bytes, uint32_t owner) {
    bool recording = __atomic_load_n(&stream.open, __ATOMIC_RELAXED) && !b.away;
    uint64_t gap = recording ? since_last(b, r.twins.clock) : 0;
    stream_record(b) = {reinterpret_cast<uint64_t>(p), uint32_t(bytes >> 27), owner, uint32_t(gap),
                        tc_raw_word(kind, 0, uint32_t(bytes) & TC_RAW_MAX_BYTES)};
    b.instructions += uint32_t(gap);
}

// Blocks are for people: only where references are recorded.
bool records_here(const StreamBuffer &b) {
    return __atomic_load_n(&stream.open, __ATOMIC_RELAXED) && !b.away &&
           b.window == stream.number && (!stream.only_functions || b.depth > 0);
}

} // namespace

void stream_allocated(const void *p, uint64_t bytes, uint32_t site) {
    tell([&](Recorder &r, StreamBuffer &b) {
        if (records_here(b))
            send_event(r, b, TC_RAW_ALLOCATE, p, bytes, owner_row(r, first_site_owner + site));
    });
}

void stream_released(const void *p) {
    tell([&](Recorder &r, StreamBuffer &b) {
        if (records_here(b))
            send_event(r, b, TC_RAW_RELEASE, p, 0, 0);
    });
}

// Recorded between windows as well: whoever follows the pages has to know.
void stream_pages_returned(const void *p, uint64_t bytes) {
    tell([&](Recorder &r, StreamBuffer &b) {
        if (stream.open || stream.left)
            send_event(r, b, TC_RAW_RETURN, p, bytes, 0);
    });
}

} // namespace tc
