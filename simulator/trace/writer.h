// Writes a trace file, aside: it gets its name when it is whole.
#pragma once
#include "simulator/trace/columns.h"
#include "simulator/trace/tables.h"
#include <cstdio>
#include <map>
#include <string>

namespace thermocline {

class TraceWriter {
  public:
    struct Options {
        int level = 1;          // of zstd: higher ones find hardly more
        bool overwrite = false; // what has the name already
    };
    TraceWriter(std::string path, Options);
    explicit TraceWriter(std::string path) : TraceWriter(std::move(path), Options()) {}
    ~TraceWriter(); // without finish(): nothing is left
    TraceWriter(const TraceWriter &) = delete;
    TraceWriter &operator=(const TraceWriter &) = delete;

    // Tables before the records that name their rows.
    void table(ChunkKind, uint32_t records, Bytes payload);
    void table(const TablePayload &t) { table(t.kind, t.records, t.bytes); }

    // What follows of the thread was recorded from this time on, in this window, and the
    // thread had executed so many instructions: where that is more than its records count,
    // a window_begin tells the reader.  Throws TraceError if it is less.
    void position(uint32_t thread, uint64_t instruction, uint32_t window, uint64_t ns);
    // Of one thread, in its order.
    void add(uint32_t thread, std::span<const Reference>);
    // The thread's last record was at this time.
    void end_time(uint32_t thread, uint64_t ns);

    void finish();
    uint64_t bytes() const { return offset_; } // in the file so far

  private:
    struct Thread {
        std::vector<Reference> records;
        uint64_t instruction = 0; // after the last record
        uint32_t window = 0;
        uint64_t ns = 0;
        ChunkHeader header; // of the chunk that is being filled
    };
    void append(uint32_t number, Thread &, const Reference &);
    void flush(uint32_t number, Thread &);
    void put(ChunkHeader, Bytes plain, std::span<const size_t> ends = {});
    void write(const void *, size_t);

    std::string path_, aside_;
    Options options_;
    std::FILE *file_ = nullptr;
    uint64_t offset_ = 0;
    std::map<uint32_t, Thread> threads_;
    std::vector<IndexEntry> index_;
    Encoder encoder_;
    std::vector<uint8_t> plain_, stored_;
};

} // namespace thermocline
