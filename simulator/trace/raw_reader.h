// Reads a raw stream (raw.h) from a pipe or file, chunk by chunk, and believes none of it.
#pragma once
#include "simulator/trace/columns.h"
#include "simulator/trace/raw.h"
#include <string>

namespace thermocline {

// All of `bytes`, or fewer at the end of the file; throws TraceError if reading fails.
size_t read_fully(int fd, void *to, size_t bytes, const std::string &name);

class RawReader {
  public:
    // `first`: what was already read of the stream, if anything.
    RawReader(int fd, std::string name, Bytes first = {});

    // The next chunk, false at the end.  A cut-off chunk is the end, and cut_off() says so.
    bool next();
    const tc_raw_header &header() const { return header_; }
    Bytes payload() const { return {payload_.data(), header_.bytes}; }
    bool cut_off() const { return cut_off_; }

  private:
    size_t take(void *to, size_t bytes);

    int fd_;
    std::string name_;
    std::vector<uint8_t> first_;
    size_t first_at_ = 0;
    tc_raw_header header_{};
    std::vector<uint8_t> payload_;
    bool cut_off_ = false;
};

bool is_raw(Bytes beginning);

// A chunk of records as references, appended.
void convert(Bytes payload, const TableSizes &, std::vector<Reference> &to);

} // namespace thermocline
