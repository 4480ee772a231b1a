// See stream.h.  Compiled without vector registers, like recorder.cpp: twins call this in the
// middle of loops.  System calls are made without libc, whose errno is the program's.
#include "stream.h"
#include "config.h"
#include "own_memory.h"
#include "stream_state.h"

namespace tc {

bool stream_on;
StreamState stream;

bool stream_send(tc_raw_chunk_kind kind, const void *payload, uint32_t bytes, uint32_t records) {
    tc_raw_header header{};
    header.magic = TC_RAW_MAGIC;
    header.version = TC_RAW_VERSION;
    header.kind = kind;
    header.bytes = bytes;
    header.records = records;
    header.begin_ns = stream.socket.now();
    bool sent = stream.socket.send(&header, sizeof header) && stream.socket.send(payload, bytes);
    if (!sent)
        stream_give_up();
    return sent;
}

namespace {

constexpr uint64_t pass_report = 4096; // passed references between looks at the clock

// With the lock held.
void send_records(StreamBuffer &b) {
    tc_raw_header &h = b.header;
    if (!h.records)
        return;
    h.magic = TC_RAW_MAGIC;
    h.version = TC_RAW_VERSION;
    h.kind = TC_RAW_RECORDS;
    h.bytes = uint32_t(h.records * sizeof(tc_raw_record));
    h.thread = b.thread;
    h.end_ns = stream.socket.now();
    if (!stream.socket.send(&h, sizeof h + h.bytes))
        stream_give_up();
    h.records = 0;
}

void send_full(StreamBuffer &b) {
    stream_lock();
    uint64_t references = b.header.records;
    send_records(b);
    stream_windows_turn(references);
    stream_pages_look(false);
    stream_unlock();
}

// While no window is open only the references are counted, to know when the next one opens.
void pass(StreamBuffer &b) {
    b.away = true;
    if (b.header.records)
        send_full(b);
    if (++b.passed < pass_report)
        return;
    stream_lock();
    stream_windows_turn(b.passed);
    stream_unlock();
    b.passed = 0;
}

// A window begins for the thread, or its references are recorded again.
void come_back(StreamBuffer &b, uint64_t clock) {
    uint64_t window = __atomic_load_n(&stream.number, __ATOMIC_RELAXED);
    if (window == b.window && !b.away) [[likely]]
        return;
    if (window > 1 || b.away) {
        uint64_t gap = since_last(b, clock);
        gap -= gap > 0; // the reference itself
        b.window = window;
        stream_record(b) = {gap, TC_RAW_NO_STATIC, uint32_t(window), 0,
                            tc_raw_word(TC_RAW_BEGIN, 0, 0)};
        b.instructions += gap;
        b.clock -= TC_STAMPS_PER_REFERENCE;
        for (uint32_t i = 0; i < b.depth; i++)
            b.functions[i].sent = false;
    }
    b.window = window;
    b.away = false;
}

void group_at(Recorder &r, uintptr_t address, const Description &d, uint64_t clock) {
    uint32_t row = description_row(d);
    for (uint32_t i = 0; i < d.count; i++, clock += TC_STAMPS_PER_REFERENCE) {
        uint16_t word = d.references[i].bytes_and_store;
        stream_reference(r, address + d.references[i].offset, word >> 1, word & 1,
                         row == TC_RAW_NO_STATIC ? row : row + i, clock);
    }
}

void begin(uint64_t budget) {
    stream_windows_start(budget);
    stream_pages_start();
    static const char meta[] = "{\"producer\": \"thermocline\", \"instructions\": \"IR\"}";
    stream_send(TC_RAW_META, meta, sizeof meta - 1, 1);
    stream_functions_announce();
}

} // namespace

tc_raw_record &stream_record(StreamBuffer &b) {
    if (b.header.records == StreamBuffer::room)
        send_full(b);
    if (!b.header.records) {
        b.header.first_instruction = b.instructions;
        b.header.begin_ns = stream.socket.now();
        b.header.window = uint32_t(b.window);
    }
    return b.records[b.header.records++];
}

// What it was sending is in the socket in part, so that nothing behind it could be read.
void stream_abandoned() {
    if (__atomic_load_n(&stream.holder, __ATOMIC_RELAXED) != __builtin_thread_pointer())
        return;
    stream_give_up();
    stream_unlock();
}

bool stream_start(const Config &config, const char **why) {
    if (!stream_tables_start()) {
        *why = "no memory for the trace's tables";
        return false;
    }
    if (!stream.socket.connect(config.stream)) {
        *why = "the trace's collector does not answer";
        return false;
    }
    stream.config = &config;
    stream.only_functions = config.only_functions;
    stream_on = true;
    begin(config.stream_budget);
    return stream_on;
}

void stream_group(tc_recorder *recorder, uintptr_t address, const tc_group *group, uint64_t clock) {
    group_at(*reinterpret_cast<Recorder *>(recorder), address, description_of(*group), clock);
}

void stream_join(Recorder &r) {
    if (!stream_on || r.stream)
        return;
    auto *made = static_cast<StreamBuffer *>(own_memory_map(sizeof(StreamBuffer)));
    if (!made)
        return; // this thread's references are lost, and the program goes on
    made->clock = r.twins.clock;
    stream_lock();
    made->thread = stream.threads++;
    made->next = stream.buffers;
    stream.buffers = made;
    stream_unlock();
    r.stream = made;
}

void stream_reference(Recorder &r, uintptr_t address, uint64_t bytes, bool store, uint32_t row,
                      uint64_t clock) {
    stream_guarded(r, [&](StreamBuffer &b) {
        if (stream.timed) [[unlikely]]
            stream_windows_look();
        if (!__atomic_load_n(&stream.open, __ATOMIC_RELAXED)) {
            pass(b);
            return;
        }
        if (stream.only_functions && !b.depth) {
            b.away = true;
            return;
        }
        come_back(b, clock);
        stream_announce_entered(b);
        uint64_t gap = since_last(b, clock);
        uint32_t row_of_owner =
            owner_row(r, owner_of(r, address >> TC_LINE_SHIFT << TC_LINE_SHIFT));
        uint32_t size = bytes < TC_RAW_MAX_BYTES ? uint32_t(bytes) : TC_RAW_MAX_BYTES;
        uint32_t others = gap > 0 ? uint32_t(gap - 1) : 0; // it is an instruction itself
        stream_record(b) = {address, row, row_of_owner, others,
                            tc_raw_word(TC_RAW_REFERENCE, store, size)};
        b.instructions += others + 1;
        b.references++;
    });
}

void stream_flush(Recorder &r) {
    stream_guarded(r, [&](StreamBuffer &b) { send_full(b); });
}

void stream_end() {
    if (!stream_on)
        return;
    stream_lock();
    for (StreamBuffer *b = stream.buffers; b && stream_on; b = b->next)
        send_records(*b);
    if (stream_on)
        stream_pages_look(true);
    static tc_raw_thread_end ends[TC_RAW_MAX_PAYLOAD / sizeof(tc_raw_thread_end)];
    uint32_t count = 0;
    for (StreamBuffer *b = stream.buffers; b && count < sizeof ends / sizeof *ends; b = b->next)
        ends[count++] = {b->thread, b->instructions, b->references, b->dropped};
    stream_send(TC_RAW_END, ends, uint32_t(count * sizeof *ends), count);
    stream_give_up();
    stream.socket.close();
    stream_unlock();
}

void stream_after_fork(Recorder *mine) {
    // The connection is the parent's, and so are the chunks.
    bool was = stream_on;
    stream_give_up();
    stream.lock = 0;
    stream.socket.close();
    stream.threads = 0;
    stream.buffers = nullptr;
    if (mine && mine->stream) {
        StreamBuffer &b = *mine->stream;
        b.header.records = 0;
        b.instructions = b.references = b.dropped = b.passed = b.window = 0;
        b.away = false;
        for (uint32_t i = 0; i < b.depth; i++)
            b.functions[i].sent = false;
        b.clock = mine->twins.clock;
        b.thread = stream.threads++;
        b.next = nullptr;
        stream.buffers = &b;
    }
    if (!was || !stream.socket.connect_again())
        return;
    stream_tables_forget();
    stream_on = true;
    begin(stream.left);
}

} // namespace tc
