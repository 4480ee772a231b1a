// What the trace file's tests share: any records at all, raw streams by hand, whole traces.
#pragma once
#include "check.h"
#include "simulator/trace/raw.h"
#include "simulator/trace/reader.h"
#include "simulator/trace/writer.h"
#include "tests/unit/tracefile/generate.h"
#include <fcntl.h>

namespace support {

using namespace thermocline;
using generate::Random;

constexpr uint32_t statics = 50, owners = 5, functions = 3;

// A record of any kind with any values that the tables allow.
inline Reference any_record(Random &random) {
    const auto number = [&] { return random() >> random() % 64; };
    Reference r;
    r.event = random() % 8 ? TraceEvent::reference : TraceEvent(random() % 7);
    r.address = number();
    r.instruction = random() % 8 ? uint32_t(random() % statics) : no_static;
    r.owner = uint32_t(random() % owners);
    r.gap = uint32_t(number());
    r.bytes = uint32_t(number() & TC_RAW_MAX_BYTES);
    r.store = random() % 2;
    if (r.event == TraceEvent::allocate)
        r.instruction = uint32_t(number());
    if (r.event == TraceEvent::window_begin)
        r.address >>= 20; // so that the count of instructions does not overflow
    if (r.event == TraceEvent::enter || r.event == TraceEvent::leave)
        r.instruction = uint32_t(random() % functions);
    return r;
}

// Runs of habits and runs of anything.
inline std::vector<Reference> any_records(Random &random, size_t count) {
    std::vector<Reference> records;
    while (records.size() < count) {
        const uint64_t choice = random() % 3;
        const size_t run = 1 + random() % 40;
        if (choice == 0) {
            for (size_t i = 0; i < run; i++)
                records.push_back(any_record(random));
        } else {
            Reference r = any_record(random);
            const uint64_t stride = random() >> random() % 64;
            for (size_t i = 0; i < run; i++) {
                if (r.event != TraceEvent::window_begin)
                    r.address += stride;
                if (choice == 2 && r.event == TraceEvent::reference)
                    r.instruction = (r.instruction + 1) % statics;
                records.push_back(r);
            }
        }
    }
    records.resize(count);
    return records;
}

inline std::vector<TablePayload> any_tables() {
    std::vector<StaticRow> rows(statics);
    for (uint32_t i = 0; i < statics; i++)
        rows[i] = {i % 3 * 4, i % 2 == 1, {i / 2}, "file.c:" + std::to_string(i) + " f"};
    std::vector<std::string> owner_names, function_names;
    for (uint32_t i = 0; i < owners; i++)
        owner_names.push_back("owner" + std::to_string(i));
    for (uint32_t i = 0; i < functions; i++)
        function_names.push_back("function" + std::to_string(i));
    function_names[1] = "function0.omp_outlined";
    std::vector<TablePayload> tables{meta_table({{"program", "demo"}})};
    for (auto &table : static_tables(0, rows))
        tables.push_back(table);
    for (auto &table : name_tables(ChunkKind::owners, 0, owner_names))
        tables.push_back(table);
    for (auto &table : name_tables(ChunkKind::functions, 0, function_names))
        tables.push_back(table);
    return tables;
}

using Threads = std::map<uint32_t, std::vector<Reference>>;

// Writes the threads' records in turns of up to `turn`.
inline void write_trace(const std::string &path, const Threads &threads, size_t turn = 1000) {
    TraceWriter writer(path, {.overwrite = true});
    for (const TablePayload &table : any_tables())
        writer.table(table);
    bool more = true;
    for (size_t at = 0; more; at += turn) {
        more = false;
        for (const auto &[number, records] : threads) {
            if (at >= records.size())
                continue;
            writer.add(number, std::span(records).subspan(at, std::min(turn, records.size() - at)));
            more = true;
        }
    }
    writer.finish();
}

inline std::vector<Reference> read_thread(TraceReader &trace, uint32_t thread,
                                          const Region &region = {}) {
    std::vector<Reference> records;
    Cursor &cursor = trace.cursor(thread, region);
    while (const Reference *r = cursor.next())
        records.push_back(*r);
    return records;
}

inline std::string show(const Reference &r) {
    return std::to_string(int(r.event)) + " @" + std::to_string(r.address) + " i" +
           std::to_string(r.instruction) + " o" + std::to_string(r.owner) + " g" +
           std::to_string(r.gap) + " b" + std::to_string(r.bytes) + (r.store ? " store" : "");
}

// Says which record differs instead of that some do.
inline void expect_records(const std::vector<Reference> &got,
                           const std::vector<Reference> &wanted) {
    expect_eq(got.size(), wanted.size());
    for (size_t i = 0; i < std::min(got.size(), wanted.size()); i++)
        if (!(got[i] == wanted[i])) {
            expect_str("record " + std::to_string(i) + ": " + show(got[i]), show(wanted[i]));
            return;
        }
}

// The message of the TraceError that is thrown, or "".
template <class Work> std::string error_of(Work work) {
    try {
        work();
    } catch (const TraceError &error) {
        return error.what();
    }
    return "";
}

inline bool contains(const std::string &text, const std::string &part) {
    return text.find(part) != text.npos;
}

// A raw stream, as a recorder would write it.
class RawStream {
  public:
    std::string bytes;

    void chunk(uint16_t kind, uint32_t records, const void *payload, size_t size,
               tc_raw_header header = {}) {
        header.magic = TC_RAW_MAGIC;
        header.version = TC_RAW_VERSION;
        header.kind = kind;
        header.bytes = uint32_t(size);
        header.records = records;
        bytes.append(reinterpret_cast<const char *>(&header), sizeof header);
        bytes.append(static_cast<const char *>(payload), size);
    }
    void tables() {
        for (const TablePayload &t : any_tables())
            chunk(uint16_t(t.kind), t.records, t.bytes.data(), t.bytes.size());
    }
    void records(uint32_t thread, std::span<const Reference> records, uint64_t begin_ns = 0,
                 uint64_t end_ns = 0, uint64_t skipped = 0, uint32_t window = 0) {
        if (window)
            windows_[thread] = window;
        std::vector<tc_raw_record> raw;
        for (const Reference &r : records)
            raw.push_back({r.address, r.instruction, r.owner, r.gap,
                           tc_raw_word(tc_raw_record_kind(r.event), r.store, r.bytes)});
        tc_raw_header header{};
        header.thread = thread;
        header.window = windows_[thread];
        header.first_instruction = executed_[thread] += skipped;
        header.begin_ns = begin_ns;
        header.end_ns = end_ns;
        for (const Reference &r : records) {
            executed_[thread] += r.instructions();
            if (r.event == TraceEvent::window_begin)
                windows_[thread] = r.window();
        }
        chunk(TC_RAW_RECORDS, uint32_t(raw.size()), raw.data(), raw.size() * sizeof raw[0], header);
    }
    void end() {
        std::vector<tc_raw_thread_end> ends;
        for (const auto &[thread, instructions] : executed_)
            ends.push_back({thread, instructions, 0, 0});
        chunk(TC_RAW_END, uint32_t(ends.size()), ends.data(), ends.size() * sizeof ends[0]);
    }

  private:
    std::map<uint32_t, uint64_t> executed_;
    std::map<uint32_t, uint32_t> windows_;
};

// A stream as something to read from.
inline int descriptor_of(const std::string &bytes) {
    const std::string path = check::scratch("stream");
    unlink(path.c_str()); // one that is written over is flushed to the disk
    check::write_file(path, bytes);
    return open(path.c_str(), O_RDONLY | O_CLOEXEC);
}

} // namespace support
