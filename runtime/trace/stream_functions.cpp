// The watched functions that a thread is in, told by the addresses of their frames: what lies at
// or below an arriving frame has been left, however it was.  A function that calls itself is in
// the stream once.
#include "abi.h"
#include "stream_state.h"

namespace tc {

namespace {

constexpr unsigned longest_name = 128;
// Under the stream's lock.
struct Watched {
    char name[longest_name];
} watched[max_watched];
uint32_t watched_count;

bool equal(const char *a, const char *b) {
    for (; *a && *a == *b; a++, b++)
        ;
    return *a == *b;
}

void announce(uint32_t row) {
    static struct {
        tc_raw_table table;
        tc_raw_name row;
        char name[longest_name];
    } chunk;
    chunk.table = {row, 1, 0, 0};
    chunk.row.name = 0;
    for (const char *from = watched[row].name;; from++) {
        chunk.name[chunk.table.string_bytes++] = *from;
        if (!*from)
            break;
    }
    stream_send(TC_RAW_FUNCTIONS, &chunk,
                sizeof chunk.table + sizeof chunk.row + chunk.table.string_bytes, 1);
}

void send_event(StreamBuffer &b, tc_raw_record_kind kind, uint32_t row, uint64_t clock) {
    uint64_t gap = since_last(b, clock);
    stream_record(b) = {0, row, 0, uint32_t(gap), tc_raw_word(kind, 0, 0)};
    b.instructions += uint32_t(gap);
}

void leave_last(StreamBuffer &b, uint64_t clock) {
    const StreamFunction &last = b.functions[--b.depth];
    if (last.sent && !b.away)
        send_event(b, TC_RAW_LEAVE, last.row, clock);
}

} // namespace

int stream_watch(const char *name) {
    stream_lock();
    uint32_t row = 0;
    while (row < watched_count && !equal(watched[row].name, name))
        row++;
    if (row == watched_count && row < max_watched) {
        uint32_t length = 0;
        for (; name[length] && length + 1 < sizeof watched[row].name; length++)
            watched[row].name[length] = name[length];
        watched[row].name[length] = 0;
        watched_count++;
        announce(row);
    }
    stream_unlock();
    return row < max_watched ? int(row) : -1;
}

void stream_functions_announce() {
    for (uint32_t row = 0; row < watched_count; row++)
        announce(row);
}

void stream_announce_entered(StreamBuffer &b) {
    if (!b.depth || b.functions[b.depth - 1].sent) [[likely]]
        return;
    for (uint32_t i = 0; i < b.depth; i++) {
        StreamFunction &entered = b.functions[i];
        if (!entered.sent)
            send_event(b, TC_RAW_ENTER, entered.row, entered.clock);
        entered.sent = true;
    }
}

} // namespace tc

using namespace tc;

static Recorder &whole(tc_recorder *r) { return *reinterpret_cast<Recorder *>(r); }

void tc_record_enter(tc_recorder *r, const void *frame, const tc_function *function,
                     uint64_t clock) {
    stream_guarded(whole(r), [&](StreamBuffer &b) {
        while (b.depth && b.functions[b.depth - 1].frame <= frame)
            leave_last(b, clock);
        uint32_t row = function->watched - 1;
        for (uint32_t i = 0; i < b.depth; i++)
            if (b.functions[i].row == row)
                return;
        if (b.depth < max_watched)
            b.functions[b.depth++] = {frame, clock, row, false};
    });
}

void tc_record_leave(tc_recorder *r, const void *frame, const tc_function *, uint64_t clock) {
    stream_guarded(whole(r), [&](StreamBuffer &b) {
        while (b.depth && b.functions[b.depth - 1].frame <= frame)
            leave_last(b, clock);
    });
}

void tc_record_arrive(tc_recorder *r, const void *frame, const tc_function *, uint64_t clock) {
    stream_guarded(whole(r), [&](StreamBuffer &b) {
        while (b.depth && b.functions[b.depth - 1].frame < frame)
            leave_last(b, clock);
    });
}
