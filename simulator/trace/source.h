// Where a trace's chunks come from: a file, in which each thread's are sought, or a stream
// (a trace file or a raw stream through a pipe), whose chunks wait until their thread asks.
#pragma once
#include "simulator/trace/tables.h"
#include <functional>
#include <memory>

namespace thermocline {

struct Chunk {
    ChunkHeader header;
    std::vector<uint8_t> payload;
    bool raw = false; // payload is tc_raw_record, else compressed columns
    // Chunks before this one that nobody wanted began here; or header.first_instruction.
    uint64_t skipped_from = 0;
};

using Wanted = std::function<bool(const ChunkHeader &)>;

class TraceSource {
  public:
    explicit TraceSource(std::string name) : name(std::move(name)) {}
    virtual ~TraceSource() = default;

    // The thread's next chunk that is wanted, or false.
    virtual bool next(uint32_t thread, const Wanted &, Chunk &) = 0;
    virtual std::vector<uint32_t> threads() const = 0; // that are known so far
    virtual bool advance() { return false; }           // reads another chunk, if it is a stream
    virtual const std::vector<IndexEntry> *index() const { return nullptr; }
    virtual size_t waiting_bytes() const { return 0; }

    std::string name;
    Tables tables;
    bool cut_off = false; // ends before its end; a stream knows that when it is there
};

// `path`: a trace file, or what has a stream in it ("-": standard input).
std::unique_ptr<TraceSource> open_source(const std::string &path, size_t max_waiting_bytes);
// A stream that is open already; it is not closed.
std::unique_ptr<TraceSource> stream_source(int fd, std::string name, size_t max_waiting_bytes);
std::unique_ptr<TraceSource> file_source(int fd, std::string name); // closes fd

} // namespace thermocline
