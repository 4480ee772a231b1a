// The tables of a stream: owners, and descriptions of references with their producers and
// positions, announced when a record first needs them.
#include "own_memory.h"
#include "sites.h"
#include "stream_state.h"

namespace tc {

namespace {

struct Described { // a description that has rows
    const void *description;
    uint32_t row;
};
constexpr uint32_t described_limit = 1 << 20;

struct {
    Described *described; // open addressing
    uint32_t described_count, rows;
    uint32_t *owner_rows; // by owner: its row + 1, or 0 if it was not announced
    uint32_t owners;
} tables;

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
    stream_lock();
    if (!__atomic_load_n(&tables.owner_rows[owner], __ATOMIC_RELAXED)) {
        static NamedRow<tc_raw_name> row; // under the lock, and too large for a signal's stack
        row.table = {tables.owners++, 1, 0, 0};
        row.row.name = 0;
        row.table.string_bytes = copy_text(row.name, sizeof row.name, name_of(owner));
        stream_send(TC_RAW_OWNERS, &row, sizeof row.table + sizeof row.row + row.table.string_bytes,
                    1);
        __atomic_store_n(&tables.owner_rows[owner], tables.owners, __ATOMIC_RELEASE);
    }
    stream_unlock();
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
        Described &entry = tables.described[at % described_limit];
        const void *there = __atomic_load_n(&entry.description, __ATOMIC_ACQUIRE);
        if (there == description || !there)
            return entry;
    }
}

const tc_group &producer_group(const Description &of, uint32_t i) {
    return *reinterpret_cast<const tc_group *>(static_cast<const char *>(of.address) +
                                               of.producers[i].group);
}

// Descriptions that are announced together, since they name each other.
constexpr uint32_t together = 4096;
struct Batch {
    uint32_t count;
    Description descriptions[together];
};

// With the lock held.  The row of a description, which is put into the batch if it is new.
uint32_t row_of(const Description &d, Batch &batch) {
    Described &entry = entry_of(d.address);
    if (entry.description)
        return entry.row;
    if (tables.described_count >= described_limit / 2 || batch.count == together)
        return TC_RAW_NO_STATIC;
    tables.described_count++;
    entry.row = tables.rows;
    tables.rows += d.count;
    batch.descriptions[batch.count++] = d;
    // Records with it are sent under the lock too, after the batch.
    __atomic_store_n(&entry.description, d.address, __ATOMIC_RELEASE);
    return entry.row;
}

// "file:line:column function", as far as it is known; returns its length with the NUL.
uint32_t write_position(char *to, uint32_t room, const Description &d, uint32_t reference) {
    uint32_t length = 0;
    auto text = [&](const char *from) {
        for (; *from && length + 1 < room; from++)
            to[length++] = *from;
    };
    auto number = [&](uint32_t value) {
        char digits[11];
        char *at = digits + sizeof digits;
        *--at = 0;
        do
            *--at = char('0' + value % 10);
        while (value /= 10);
        text(":");
        text(at);
    };
    if (d.positions) {
        const tc_position &position = d.positions[reference];
        const char *function = static_cast<const char *>(d.address) + position.place;
        const char *file = function;
        while (*file++)
            ;
        uint32_t line = position.line_and_column >> TC_COLUMN_BITS;
        uint32_t column = position.line_and_column & ((1u << TC_COLUMN_BITS) - 1);
        text(file);
        if (line)
            number(line);
        if (column)
            number(column);
        if (length)
            text(" ");
        text(function);
    }
    to[length++] = 0;
    return length;
}

// With the lock held.
void announce(const Description &d, Batch &batch) {
    constexpr uint32_t most = 64, most_producers = 8 * most, most_text = 512;
    static struct {
        tc_raw_table table;
        char rest[most * (sizeof(tc_raw_static) + most_text) + most_producers * sizeof(uint32_t)];
    } chunk;
    static_assert(sizeof chunk <= TC_RAW_MAX_PAYLOAD);
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
                if (row == TC_RAW_NO_STATIC || listed == most_producers)
                    continue;
                list[listed++] = row + d.producers[next].load;
                rows[i].producers++;
            }
        }
        auto *strings = reinterpret_cast<char *>(list + listed);
        uint32_t length = 0;
        for (uint32_t i = 0; i < n; i++) {
            rows[i].position = length;
            length += write_position(strings + length, most_text, d, done + i);
        }
        chunk.table = {first + done, n, listed, length};
        stream_send(TC_RAW_STATICS, &chunk,
                    uint32_t(strings + length - reinterpret_cast<char *>(&chunk)), n);
        done += n;
    }
}

} // namespace

bool stream_tables_start() {
    tables.described =
        static_cast<Described *>(own_memory_map(sizeof(Described) * described_limit));
    tables.owner_rows =
        static_cast<uint32_t *>(own_memory_map((size_t(max_owner) + 1) * sizeof(uint32_t)));
    return tables.described && tables.owner_rows;
}

void stream_tables_forget() {
    for (uint32_t owner = 0; owner <= max_owner; owner++)
        tables.owner_rows[owner] = 0;
    for (uint32_t i = 0; i < described_limit; i++)
        tables.described[i] = {};
    tables.described_count = tables.rows = tables.owners = 0;
}

Description description_of(const tc_group &group) {
    auto *producers = reinterpret_cast<const tc_producer *>(group.references + group.count);
    return {&group,          group.references,
            group.count,     producers,
            group.producers, reinterpret_cast<const tc_position *>(producers + group.producers)};
}
uint32_t owner_row(Recorder &r, uint32_t owner) {
    uint32_t row = __atomic_load_n(&tables.owner_rows[owner], __ATOMIC_ACQUIRE);
    if (!row) [[unlikely]] {
        announce_owner(r, owner);
        row = tables.owner_rows[owner];
    }
    return row - 1;
}

uint32_t description_row(const Description &d) {
    const Described &entry = entry_of(d.address);
    if (__atomic_load_n(&entry.description, __ATOMIC_ACQUIRE) == d.address) [[likely]]
        return entry.row;
    static Batch batch; // under the lock
    stream_lock();
    batch.count = 0;
    uint32_t row = row_of(d, batch);
    // Grows as producers are found.
    for (uint32_t i = 0; i < batch.count; i++)
        announce(batch.descriptions[i], batch);
    stream_unlock();
    return row;
}

} // namespace tc
