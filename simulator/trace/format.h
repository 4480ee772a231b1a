// The trace file's frame: its head, its chunks' headers, its index and its end.
// docs/trace-format.md has it in words.  All numbers are little endian.
#pragma once
#include "simulator/trace/error.h"
#include <cstdint>
#include <span>
#include <vector>

namespace thermocline {

using Bytes = std::span<const uint8_t>;

constexpr uint32_t chunk_magic = 0x4b434354; // "TCCK"
constexpr uint16_t trace_version = 1;
constexpr uint32_t max_records = 32768; // of a chunk: what a thread's cursor holds at a time
constexpr uint32_t max_plain_bytes = 1 << 21;

// A chunk's kinds, with the raw stream's numbers (raw.h); a table's payload is the same in
// both, before compression.
enum class ChunkKind : uint16_t {
    meta = 1,
    statics,
    owners,
    functions,
    records,
    window,
    end,
    index,
    pages,
};
constexpr uint16_t chunk_kinds = 9;

struct FileHead {
    char magic[8] = {'T', 'C', 'T', 'R', 'A', 'C', 'E', '\n'};
    uint32_t version = trace_version;
    uint32_t reserved[13] = {};
};

struct ChunkHeader {
    uint32_t magic = chunk_magic;
    ChunkKind kind = ChunkKind::meta;
    uint16_t flags = 0;
    uint32_t stored_bytes = 0; // of the payload, after zstd
    uint32_t plain_bytes = 0;  // before
    uint32_t records = 0;      // references, events and clocks
    uint32_t references = 0;
    uint32_t thread = 0;
    uint32_t window = 0;            // the one that the thread is in before the first record
    uint64_t first_instruction = 0; // of the thread before the first record's gap
    uint64_t begin_ns = 0, end_ns = 0;
    uint64_t checksum = 0; // xxh64 of the payload, seeded with that of what is above

    // flags
    static constexpr uint16_t has_functions = 1; // enter or leave
    static constexpr uint16_t has_windows = 2;   // window_begin
};

struct IndexEntry {
    uint64_t offset = 0;
    ChunkHeader header;
};

struct FileEnd {
    uint64_t index_offset = 0;
    uint64_t checksum = 0; // xxh64 of index_offset
    char magic[8] = {'T', 'C', 'E', 'N', 'D', '\n', 0, 0};
};

static_assert(sizeof(FileHead) == 64 && sizeof(ChunkHeader) == 64);
static_assert(sizeof(IndexEntry) == 72 && sizeof(FileEnd) == 24);

FileHead checked_head(const FileHead &, const std::string &name); // throws TraceError

uint64_t chunk_checksum(const ChunkHeader &, Bytes stored);
uint64_t end_checksum(uint64_t index_offset);

// Whether a header can be one: what follows it is then read, and its checksum compared.
bool plausible(const ChunkHeader &);

// As one frame of zstd; its blocks end at `ends` too, so that what is unlike gets codes of its
// own, and what can't be compressed is copied.
void compress(Bytes plain, int level, std::vector<uint8_t> &stored,
              std::span<const size_t> ends = {});
void expand(Bytes stored, std::vector<uint8_t> &plain, size_t plain_bytes);

} // namespace thermocline
