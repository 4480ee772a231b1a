// Other simulators' traces, read and written.  A format is one file and one line in
// foreign.cpp.  docs/trace-format.md says what each can't say.
#pragma once
#include "simulator/trace/foreign_file.h"
#include "simulator/trace/reader.h"
#include "simulator/trace/writer.h"

namespace thermocline {

struct ForeignOptions {
    // Of a format that names places in the memory instead of addresses: how many channels,
    // ranks, bank groups, banks, rows, columns (of line_bytes) there are.
    std::vector<uint64_t> organization = {1, 1, 4, 4, 65536, 128};
    uint32_t line_bytes = 64;
};

struct ForeignFormat {
    const char *name, *what;
    void (*import_from)(ForeignInput &, TraceWriter &, const ForeignOptions &);
    // One thread's records.
    void (*export_to)(Cursor &, const Tables &, ForeignOutput &, const ForeignOptions &);
};
std::span<const ForeignFormat> foreign_formats();
const ForeignFormat &foreign_format(const std::string &name); // throws TraceError

// What importers have in common: one thread's references, and instructions that become known
// as they come.
class Importer {
  public:
    // `unknown`: what the format can't say; `assumed`: what stands for it.
    Importer(TraceWriter &, const char *format, const std::string &name,
             const nlohmann::json &unknown, const nlohmann::json &assumed);
    uint32_t add_instruction(StaticRow row);
    void depends(uint32_t instruction, uint32_t producer);
    void add(const Reference &);
    void finish(uint64_t instructions_at_end); // after the last reference

  private:
    static constexpr size_t batch = 4096, max_producers = 16;
    void flush();

    TraceWriter &writer_;
    std::vector<StaticRow> rows_;
    size_t written_rows_ = 0;
    bool more_producers_ = false; // than the rows that are written say
    std::vector<Reference> records_;
    uint64_t references_ = 0, instructions_ = 0;
    std::string name_;
};

void import_champsim(ForeignInput &, TraceWriter &, const ForeignOptions &);
void export_champsim(Cursor &, const Tables &, ForeignOutput &, const ForeignOptions &);
void import_ramulator_loads(ForeignInput &, TraceWriter &, const ForeignOptions &);
void export_ramulator_loads(Cursor &, const Tables &, ForeignOutput &, const ForeignOptions &);
void import_ramulator_reads(ForeignInput &, TraceWriter &, const ForeignOptions &);
void export_ramulator_reads(Cursor &, const Tables &, ForeignOutput &, const ForeignOptions &);

} // namespace thermocline
