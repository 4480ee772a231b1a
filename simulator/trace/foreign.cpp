// The formats, and what their importers share.
#include "simulator/trace/foreign.h"
#include <algorithm>

namespace thermocline {

namespace {

constexpr ForeignFormat formats[] = {
    {"champsim", "ChampSim's instructions, 64 bytes each", import_champsim, export_champsim},
    {"ramulator2-loadstore", "Ramulator 2's LoadStoreTrace: LD or ST and an address a line",
     import_ramulator_loads, export_ramulator_loads},
    {"ramulator2-readwrite", "Ramulator 2's ReadWriteTrace: R or W and a place in the DRAM a line",
     import_ramulator_reads, export_ramulator_reads},
};

} // namespace

std::span<const ForeignFormat> foreign_formats() { return formats; }

const ForeignFormat &foreign_format(const std::string &name) {
    std::string known;
    for (const ForeignFormat &format : formats) {
        if (name == format.name)
            return format;
        known += (known.empty() ? "" : ", ") + std::string(format.name);
    }
    throw TraceMisuse("no trace format is called " + name + ": use " + known);
}

Importer::Importer(TraceWriter &writer, const char *format, const std::string &name,
                   const nlohmann::json &unknown, const nlohmann::json &assumed)
    : writer_(writer), name_(name) {
    writer_.table(meta_table({{"source", "import"},
                              {"imported_format", format},
                              {"imported_from", name},
                              {"unknown", unknown},
                              {"assumed", assumed}}));
    const std::string owner = "(other)";
    for (const auto &table : name_tables(ChunkKind::owners, 0, {&owner, 1}))
        writer_.table(table);
}

uint32_t Importer::add_instruction(StaticRow row) {
    rows_.push_back(std::move(row));
    return uint32_t(rows_.size() - 1);
}

void Importer::depends(uint32_t instruction, uint32_t producer) {
    std::vector<uint32_t> &producers = rows_[instruction].producers;
    if (std::find(producers.begin(), producers.end(), producer) != producers.end() ||
        producers.size() >= max_producers)
        return;
    producers.push_back(producer);
    more_producers_ |= instruction < written_rows_;
}

void Importer::add(const Reference &r) {
    records_.push_back(r);
    instructions_ += r.instructions();
    references_++;
    if (records_.size() == batch)
        flush();
}

void Importer::flush() {
    const auto fresh = std::span(rows_).subspan(written_rows_);
    for (const auto &table : static_tables(uint32_t(written_rows_), fresh))
        writer_.table(table);
    written_rows_ = rows_.size();
    writer_.add(0, records_);
    records_.clear();
}

void Importer::finish(uint64_t instructions_at_end) {
    if (references_ == 0)
        throw TraceError(name_ + " has no memory reference: nothing is imported");
    flush();
    // A producer may show only after the instruction's row was written.
    if (more_producers_)
        for (const auto &table : static_tables(0, rows_))
            writer_.table(table);
    const tc_raw_thread_end end{0, instructions_ + instructions_at_end, references_, 0};
    writer_.table(ChunkKind::end, 1, {reinterpret_cast<const uint8_t *>(&end), sizeof end});
}

} // namespace thermocline
