// What a trace knows beside its references: static instructions and what makes their
// addresses, owners, functions, sampling windows, and what was recorded how.
#pragma once
#include "simulator/trace/format.h"
#include "simulator/trace/large_pages.h"
#include "simulator/trace/raw.h"
#include "simulator/trace/reference.h"
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

namespace thermocline {

static_assert(int(ChunkKind::records) == TC_RAW_RECORDS && int(ChunkKind::end) == TC_RAW_END &&
              int(ChunkKind::pages) == TC_RAW_PAGES);

class Tables {
  public:
    nlohmann::json meta = nlohmann::json::object();
    std::vector<StaticInstruction> statics;
    std::vector<uint32_t> producers;
    std::vector<std::string> owners, functions;
    std::vector<tc_raw_window> windows;
    std::vector<tc_raw_thread_end> ends;
    LargePages large;
    bool pages_known = false; // somebody looked: `large` is all there was
    bool ended = false;       // the program said how it ended
    uint64_t version = 0;     // grows with each table that is added

    // A table's chunk, as the raw stream and the trace file both have it.  Throws TraceError,
    // and then has changed nothing.
    void add(ChunkKind, uint32_t records, Bytes payload);

    std::string_view position(uint32_t instruction) const {
        return std::string_view(strings_.data() + statics[instruction].position);
    }
    std::span<const uint32_t> producers_of(uint32_t instruction) const {
        const StaticInstruction &row = statics[instruction];
        return std::span(producers).subspan(row.first_producer, row.producers);
    }

  private:
    void add_statics(Bytes);
    void add_pages(Bytes, uint32_t records);
    void add_names(Bytes, std::vector<std::string> &, const char *what);

    std::string strings_ = std::string(1, '\0');
};

// Writers' side: tables as payloads of at most 64 KiB each, handed to `put` one by one.
struct StaticRow {
    uint32_t bytes = 0;
    bool store = false;
    std::vector<uint32_t> producers;
    std::string position;
};
struct TablePayload {
    ChunkKind kind;
    uint32_t records;
    std::vector<uint8_t> bytes;
};
std::vector<TablePayload> static_tables(uint32_t first, std::span<const StaticRow>);
std::vector<TablePayload> name_tables(ChunkKind, uint32_t first, std::span<const std::string>);
TablePayload meta_table(const nlohmann::json &);

} // namespace thermocline
