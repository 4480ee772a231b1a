// A trace as a simulator reads it: a cursor for each thread, to be pulled from in any order.
//
//   TraceReader trace("stream.trace");          // or "-": live from a running program
//   for (const Reference *r; (r = trace.cursor(0).next());) ...
//
// Of a file, a thread's cursor holds one chunk.  Of a stream, what comes for other threads
// before a thread's next chunk waits in memory, up to a limit.  All throw TraceError.
#pragma once
#include "simulator/trace/columns.h"
#include "simulator/trace/source.h"
#include <array>
#include <map>

namespace thermocline {

// The part of a trace that is looked at.  What lies outside is left out; where the part
// begins again, a window_begin says how many instructions that were.
struct Region {
    // Records between entering and leaving the function, or one that the compiler made of it
    // (a name followed by "."); "": all.
    std::string function = {};
    uint64_t from_ns = 0, to_ns = UINT64_MAX;            // to the recorder's granularity
    uint32_t first_window = 0, last_window = UINT32_MAX; // sampling windows, from 1

    bool everything() const { return *this == Region(); }
    bool operator==(const Region &) const = default;
};

class Cursor {
  public:
    Cursor(TraceSource &, uint32_t thread, Region);

    // The thread's next record, or null at its end.  It is valid until the next call.
    const Reference *next() {
        if (at_ == end_ && !refill()) [[unlikely]]
            return nullptr;
        return at_++;
    }
    uint32_t thread() const { return thread_; }
    // When the last record was made, since recording began, to the recorder's granularity.
    uint64_t time_ns() const { return ns_; }

  private:
    static constexpr size_t batch = 512;

    bool refill();
    bool next_batch();
    bool next_chunk();
    bool wanted(const ChunkHeader &) const;
    bool inside() const;
    size_t keep_inside();

    TraceSource &source_;
    uint32_t thread_;
    Region region_;
    Wanted wanted_;
    bool everything_;

    Chunk chunk_;
    std::vector<uint8_t> plain_;
    Decoder decoder_;
    std::vector<Reference> raw_; // a raw chunk's records
    size_t raw_at_ = 0;
    bool decoding_ = false;
    uint64_t executed_ = 0; // by the thread at the end of the last raw chunk

    const Reference *at_ = nullptr, *end_ = nullptr;
    std::array<Reference, batch + 1> buffer_; // a hole's window_begin may come first
    std::vector<Reference> kept_;
    uint64_t ns_ = 0, skipped_ = 0;
    uint32_t window_ = 0, depth_ = 0;
};

class TraceReader {
  public:
    static constexpr size_t default_waiting_bytes = size_t(2) << 30;

    explicit TraceReader(const std::string &path, size_t max_waiting_bytes = default_waiting_bytes)
        : source_(open_source(path, max_waiting_bytes)) {}
    explicit TraceReader(std::unique_ptr<TraceSource> source) : source_(std::move(source)) {}

    // Of a file whole at once; of a stream as they come, always before the references.
    const Tables &tables() const { return source_->tables; }
    // Threads with records; of a stream, those that came so far.
    std::vector<uint32_t> threads() const { return source_->threads(); }
    // Reads another chunk of a stream, to see whether a thread comes; false at its end.
    bool advance() { return source_->advance(); }
    // A thread has one cursor; its region is what the first call says.
    Cursor &cursor(uint32_t thread, const Region & = {});

    // The trace ends before its end: a file was cut off, or a stream stopped without its last
    // word.  Of a stream it is known at the end.
    bool cut_off() const { return source_->cut_off; }
    const std::string &name() const { return source_->name; }
    const std::vector<IndexEntry> *index() const { return source_->index(); } // files only
    size_t waiting_bytes() const { return source_->waiting_bytes(); }

  private:
    std::unique_ptr<TraceSource> source_;
    std::map<uint32_t, std::unique_ptr<Cursor>> cursors_;
};

} // namespace thermocline
