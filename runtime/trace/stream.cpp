// See stream.h.  Compiled without vector registers, like recorder.cpp: twins call this in the
// middle of loops.  System calls are made without libc, whose errno is the program's.
#include "stream.h"
#include "own_memory.h"
#include "recorder.h"
#include "sites.h"
#include "stream_socket.h"

namespace tc {

bool stream_on;

namespace {

// Half of the budget is for a run's beginning; then each doubling of the run gets an equal part
// of the rest, as windows evenly spread over it.  So a run may be 2^16 times as long as that
// beginning before the budget is used up.
constexpr uint64_t doublings = 16, windows_in_doubling = 8, longest_window = 1 << 20;
constexpr uint64_t pass_report = 4096; // passed references between looks at the clock

struct Described { // a description that has rows
    const void *description;
    uint32_t row;
};
constexpr uint32_t described_limit = 1 << 20;

struct {
    StreamSocket socket;
    unsigned char lock;
    uint32_t threads;
    StreamBuffer *buffers;
    Described *described; // open addressing
    uint32_t described_count, rows;
    uint32_t *owner_rows; // by owner: its row + 1, or 0 if it was not announced
    uint32_t owners;
    // Sampling windows: open for `window` references, then closed for (period - 1) times as many.
    uint64_t budget, left;
    uint64_t phase_left;
    uint64_t window, period;
    uint64_t counted; // since the window was opened or closed
    uint64_t number;  // of the window that is open, or the last
    uint64_t window_begin;
    bool open;
} stream;

void lock() {
    while (__atomic_exchange_n(&stream.lock, 1, __ATOMIC_ACQUIRE))
        __builtin_ia32_pause();
}
void unlock() { __atomic_store_n(&stream.lock, 0, __ATOMIC_RELEASE); }

void give_up() { __atomic_store_n(&stream_on, false, __ATOMIC_RELAXED); }

// With the lock held.
bool send(tc_raw_chunk_kind kind, const void *payload, uint32_t bytes, uint32_t records) {
    tc_raw_header header{};
    header.magic = TC_RAW_MAGIC;
    header.version = TC_RAW_VERSION;
    header.kind = kind;
    header.bytes = bytes;
    header.records = records;
    header.begin_ns = stream.socket.now();
    bool sent = stream.socket.send(&header, sizeof header) && stream.socket.send(payload, bytes);
    if (!sent)
        give_up();
    return sent;
}

// One row of a table, with its name.
template <class Row> struct NamedRow {
    tc_raw_table table;
    Row row;
    char name[TC_RAW_MAX_PAYLOAD / 16];
};

uint32_t copy_text(char *to, uint32_t room, const char *from) {
    uint32_t length = 0;
    while (from[length] && length + 1 < room) {
        to[length] = from[length];
        length++;
    }
    to[length++] = 0;
    return length;
}

const char *name_of(uint32_t owner) {
    static const char *const outside[nonheap_kinds] = {"(other)", "(stack)", "(globals)"};
    if (owner < nonheap_kinds)
        return outside[owner];
    const SiteRecord *site = site_record(owner - first_site_owner);
    return site ? site->key : "(unknown)";
}

void announce_owner(uint32_t owner) {
    lock();
    if (!__atomic_load_n(&stream.owner_rows[owner], __ATOMIC_RELAXED)) {
        static NamedRow<tc_raw_name> row; // under the lock, and too large for a signal's stack
        row.table = {stream.owners++, 1, 0, 0};
        row.row.name = 0;
        row.table.string_bytes = copy_text(row.name, sizeof row.name, name_of(owner));
        send(TC_RAW_OWNERS, &row, sizeof row.table + sizeof row.row + row.table.string_bytes, 1);
        __atomic_store_n(&stream.owner_rows[owner], stream.owners, __ATOMIC_RELEASE);
    }
    unlock();
}

// Names are told by parts of the library that may use the program's vector registers.
void announce_owner(Recorder &r, uint32_t owner) {
    if (model.vectors) {
        constexpr uint32_t parts = 0xe6; // as in recorder.cpp
        asm volatile("xsave64 %0" : "+m"(r.registers) : "a"(parts), "d"(0) : "memory");
        announce_owner(owner);
        asm volatile("xrstor64 %0" : : "m"(r.registers), "a"(parts), "d"(0) : "memory");
    } else {
        asm volatile("fxsave64 %0" : "+m"(r.registers) : : "memory");
        announce_owner(owner);
        asm volatile("fxrstor64 %0" : : "m"(r.registers) : "memory");
    }
}

Described &entry_of(const void *description) {
    uint32_t at = uint32_t(reinterpret_cast<uintptr_t>(description) >> 2) * 0x9E3779B1u;
    for (;; at++) {
        Described &entry = stream.described[at % described_limit];
        const void *there = __atomic_load_n(&entry.description, __ATOMIC_ACQUIRE);
        if (there == description || !there)
            return entry;
    }
}

// A description and what it says.
struct Description {
    const void *address;
    const tc_reference *references;
    uint32_t count;
    const tc_producer *producers;
    uint32_t producer_count;
};

Description description_of(const tc_group &group) {
    return {&group, group.references, group.count,
            reinterpret_cast<const tc_producer *>(group.references + group.count), group.producers};
}
Description description_of(const tc_strip_group &group) {
    return {&group, group.references, group.count, nullptr, 0};
}
const tc_group &producer_group(const Description &of, uint32_t i) {
    return *reinterpret_cast<const tc_group *>(static_cast<const char *>(of.address) +
                                               of.producers[i].group);
}

// Descriptions that are announced together, since they name each other.
constexpr uint32_t together = 256;
struct Batch {
    uint32_t count;
    Description descriptions[together];
};

// With the lock held.  The row of a description, which is put into the batch if it is new.
uint32_t row_of(const Description &d, Batch &batch) {
    Described &entry = entry_of(d.address);
    if (entry.description)
        return entry.row;
    if (stream.described_count >= described_limit / 2 || batch.count == together)
        return TC_RAW_NO_STATIC;
    stream.described_count++;
    entry.row = stream.rows;
    stream.rows += d.count;
    batch.descriptions[batch.count++] = d;
    // Records with it are sent under the lock too, after the batch.
    __atomic_store_n(&entry.description, d.address, __ATOMIC_RELEASE);
    return entry.row;
}

// With the lock held.
void announce(const Description &d, Batch &batch) {
    constexpr uint32_t most = 256;
    static struct {
        tc_raw_table table;
        char rest[most * (sizeof(tc_raw_static) + 8 * sizeof(uint32_t)) + 1];
    } chunk;
    uint32_t first = entry_of(d.address).row;
    for (uint32_t done = 0, next = 0; done < d.count;) {
        uint32_t n = d.count - done < most ? d.count - done : most;
        auto *rows = reinterpret_cast<tc_raw_static *>(chunk.rest);
        auto *list = reinterpret_cast<uint32_t *>(rows + n);
        uint32_t listed = 0;
        for (uint32_t i = 0; i < n; i++) {
            uint16_t word = d.references[done + i].bytes_and_store;
            rows[i] = {uint32_t(word >> 1), uint32_t(word & 1), listed, 0, 0};
            for (; next < d.producer_count && d.producers[next].consumer <= done + i; next++) {
                uint32_t row = row_of(description_of(producer_group(d, next)), batch);
                if (row == TC_RAW_NO_STATIC || listed == 8 * most)
                    continue;
                list[listed++] = row + d.producers[next].load;
                rows[i].producers++;
            }
        }
        // The strings follow: the empty one, for positions are not known.
        auto *end = reinterpret_cast<char *>(list + listed);
        *end = 0;
        chunk.table = {first + done, n, listed, 1};
        send(TC_RAW_STATICS, &chunk, uint32_t(end + 1 - reinterpret_cast<char *>(&chunk)), n);
        done += n;
    }
}

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
        give_up();
    h.records = 0;
}

uint64_t all_instructions() {
    uint64_t sum = 0;
    for (const StreamBuffer *b = stream.buffers; b; b = b->next)
        sum += __atomic_load_n(&b->instructions, __ATOMIC_RELAXED);
    return sum;
}

// With the lock held.  So many more references were recorded (or passed, while none is open).
void turn_windows(uint64_t references) {
    if (!stream.left && !stream.open)
        return;
    stream.counted += references;
    if (!stream.open) {
        if (stream.counted < stream.window * (stream.period - 1))
            return;
        stream.number++;
        stream.window_begin = stream.socket.now();
        stream.counted = 0;
        __atomic_store_n(&stream.open, true, __ATOMIC_RELAXED);
        return;
    }
    uint64_t used = references < stream.left ? references : stream.left;
    stream.left -= used;
    stream.phase_left -= used < stream.phase_left ? used : stream.phase_left;
    if (stream.phase_left == 0) {
        stream.phase_left = stream.budget / (2 * doublings) + 1;
        stream.period = stream.period == 1 ? doublings : 2 * stream.period;
    }
    if (stream.period == 1 || (stream.counted < stream.window && stream.left))
        return;
    static uint64_t instructions;
    uint64_t now = all_instructions();
    tc_raw_window window{stream.number, stream.window_begin, stream.socket.now(),
                         now - instructions};
    instructions = now;
    send(TC_RAW_WINDOW, &window, sizeof window, 1);
    stream.counted = 0;
    __atomic_store_n(&stream.open, false, __ATOMIC_RELAXED);
}

void send_full(StreamBuffer &b) {
    lock();
    uint64_t references = b.header.records;
    send_records(b);
    turn_windows(references);
    unlock();
}

// Room for a record, which says the time since the last one: not yet part of `instructions`.
tc_raw_record &new_record(StreamBuffer &b) {
    if (b.header.records == StreamBuffer::room)
        send_full(b);
    if (!b.header.records) {
        b.header.first_instruction = b.instructions;
        b.header.begin_ns = stream.socket.now();
        b.header.window = uint32_t(b.window);
    }
    return b.records[b.header.records++];
}

// While no window is open only the references are counted, to know when the next one opens.
void pass(StreamBuffer &b) {
    if (b.header.records)
        send_full(b);
    if (++b.passed < pass_report)
        return;
    lock();
    turn_windows(b.passed);
    unlock();
    b.passed = 0;
}

// Instructions since the last record, up to this time of the clock.
uint64_t since_last(StreamBuffer &b, uint64_t clock) {
    uint64_t passed = clock > b.clock ? (clock - b.clock) / TC_STAMPS_PER_REFERENCE : 0;
    b.clock = clock > b.clock ? clock : b.clock;
    return passed;
}

template <class Work> void guarded(Recorder &r, Work work) {
    if (!__atomic_load_n(&stream_on, __ATOMIC_RELAXED))
        return;
    StreamBuffer *b = r.stream;
    if (!b)
        return;
    if (b->busy) {
        b->dropped++;
        return;
    }
    b->busy = 1;
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    work(*b);
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    b->busy = 0;
}

uint32_t owner_row(Recorder &r, uint32_t owner) {
    uint32_t row = __atomic_load_n(&stream.owner_rows[owner], __ATOMIC_ACQUIRE);
    if (!row) [[unlikely]] {
        announce_owner(r, owner);
        row = stream.owner_rows[owner];
    }
    return row - 1;
}

// The row of a description's first reference, announced when it is first seen.
uint32_t known_row(const Description &d) {
    const Described &entry = entry_of(d.address);
    if (__atomic_load_n(&entry.description, __ATOMIC_ACQUIRE) == d.address) [[likely]]
        return entry.row;
    static Batch batch; // under the lock
    lock();
    batch.count = 0;
    uint32_t row = row_of(d, batch);
    // Grows as producers are found.
    for (uint32_t i = 0; i < batch.count; i++)
        announce(batch.descriptions[i], batch);
    unlock();
    return row;
}

void group_at(Recorder &r, uintptr_t address, const Description &d, uint64_t clock) {
    uint32_t row = known_row(d);
    for (uint32_t i = 0; i < d.count; i++, clock += TC_STAMPS_PER_REFERENCE) {
        uint16_t word = d.references[i].bytes_and_store;
        stream_reference(r, address + d.references[i].offset, word >> 1, word & 1,
                         row == TC_RAW_NO_STATIC ? row : row + i, clock);
    }
}

void begin(uint64_t budget) {
    stream.threads = 0;
    stream.budget = stream.left = budget;
    stream.phase_left = budget / 2;
    uint64_t window = budget / (2 * doublings * windows_in_doubling) + 1;
    stream.window = window < longest_window ? window : longest_window;
    stream.period = 1;
    stream.number = 1;
    stream.open = true;
    static const char meta[] = "{\"producer\": \"thermocline\", \"instructions\": \"IR\"}";
    send(TC_RAW_META, meta, sizeof meta - 1, 1);
}

} // namespace

bool stream_start(const char *socket, uint64_t budget, const char **why) {
    stream.described =
        static_cast<Described *>(own_memory_map(sizeof(Described) * described_limit));
    stream.owner_rows =
        static_cast<uint32_t *>(own_memory_map((size_t(max_owner) + 1) * sizeof(uint32_t)));
    if (!stream.described || !stream.owner_rows) {
        *why = "no memory for the trace's tables";
        return false;
    }
    if (!stream.socket.connect(socket)) {
        *why = "the trace's collector does not answer";
        return false;
    }
    stream_on = true;
    begin(budget);
    return stream_on;
}

void stream_group(tc_recorder *recorder, uintptr_t address, const tc_group *group, uint64_t clock) {
    group_at(*reinterpret_cast<Recorder *>(recorder), address, description_of(*group), clock);
}

void stream_strip(tc_recorder *recorder, const tc_strip *strip, const tc_walk *walks,
                  uint64_t iterations, uint64_t clock) {
    for (uint64_t i = 0; i < iterations; i++, clock += strip->stamps) {
        uint64_t stamp = clock;
        auto *group = reinterpret_cast<const tc_strip_group *>(strip + 1);
        for (uint32_t g = 0; g < strip->count; g++) {
            group_at(*reinterpret_cast<Recorder *>(recorder),
                     walks[g].start + i * uint64_t(walks[g].step), description_of(*group), stamp);
            stamp += TC_STAMPS_PER_REFERENCE * group->count;
            group = reinterpret_cast<const tc_strip_group *>(group->references + group->count);
        }
    }
}

void stream_join(Recorder &r) {
    if (!stream_on || r.stream)
        return;
    auto *made = static_cast<StreamBuffer *>(own_memory_map(sizeof(StreamBuffer)));
    if (!made)
        return; // this thread's references are lost, and the program goes on
    made->clock = r.twins.clock;
    lock();
    made->thread = stream.threads++;
    made->next = stream.buffers;
    stream.buffers = made;
    unlock();
    r.stream = made;
}

void stream_reference(Recorder &r, uintptr_t address, uint64_t bytes, bool store, uint32_t row,
                      uint64_t clock) {
    guarded(r, [&](StreamBuffer &b) {
        if (!__atomic_load_n(&stream.open, __ATOMIC_RELAXED)) {
            pass(b);
            return;
        }
        uint64_t gap = since_last(b, clock);
        uint64_t window = __atomic_load_n(&stream.number, __ATOMIC_RELAXED);
        if (window != b.window) [[unlikely]] {
            b.window = window;
            if (window > 1) {
                new_record(b) = {gap, TC_RAW_NO_STATIC, uint32_t(window), 0,
                                 tc_raw_word(TC_RAW_BEGIN, 0, 0)};
                b.instructions += gap;
                gap = 0;
            }
        }
        uint32_t row_of_owner =
            owner_row(r, owner_of(r, address >> TC_LINE_SHIFT << TC_LINE_SHIFT));
        uint32_t size = bytes < TC_RAW_MAX_BYTES ? uint32_t(bytes) : TC_RAW_MAX_BYTES;
        uint32_t others = gap > 0 ? uint32_t(gap - 1) : 0; // it is an instruction itself
        new_record(b) = {address, row, row_of_owner, others,
                         tc_raw_word(TC_RAW_REFERENCE, store, size)};
        b.instructions += others + 1;
        b.references++;
    });
}

void stream_flush(Recorder &r) {
    guarded(r, [&](StreamBuffer &b) { send_full(b); });
}

void stream_end() {
    if (!stream_on)
        return;
    lock();
    for (StreamBuffer *b = stream.buffers; b && stream_on; b = b->next)
        send_records(*b);
    static tc_raw_thread_end ends[TC_RAW_MAX_PAYLOAD / sizeof(tc_raw_thread_end)];
    uint32_t count = 0;
    for (StreamBuffer *b = stream.buffers; b && count < sizeof ends / sizeof *ends; b = b->next)
        ends[count++] = {b->thread, b->instructions, b->references, b->dropped};
    send(TC_RAW_END, ends, uint32_t(count * sizeof *ends), count);
    give_up();
    stream.socket.close();
    unlock();
}

void stream_after_fork(Recorder *mine) {
    // The connection is the parent's, and so are the chunks.
    bool was = stream_on;
    give_up();
    stream.lock = 0;
    stream.socket.close();
    stream.threads = 0;
    stream.buffers = nullptr;
    if (mine && mine->stream) {
        StreamBuffer &b = *mine->stream;
        b.header.records = 0;
        b.instructions = b.references = b.dropped = b.passed = 0;
        b.clock = mine->twins.clock;
        b.thread = stream.threads++;
        b.next = nullptr;
        stream.buffers = &b;
    }
    if (!was || !stream.socket.connect_again())
        return;
    for (uint32_t owner = 0; owner <= max_owner; owner++)
        stream.owner_rows[owner] = 0;
    for (uint32_t i = 0; i < described_limit; i++)
        stream.described[i] = {};
    stream.described_count = stream.rows = stream.owners = 0;
    stream_on = true;
    begin(stream.left);
}

} // namespace tc
