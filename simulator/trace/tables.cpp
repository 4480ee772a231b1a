// Tables are read from streams that may be damaged or hostile: every count and offset is
// checked against the payload before anything is changed.
#include "simulator/trace/tables.h"
#include <cstring>

namespace thermocline {

namespace {

// The parts of a table's payload, in place.
class Table {
  public:
    Table(Bytes payload, size_t row_bytes, const char *what) : what_(what) {
        if (payload.size() < sizeof head)
            fail();
        std::memcpy(&head, payload.data(), sizeof head);
        const uint64_t rows = uint64_t(head.rows) * row_bytes;
        const uint64_t producers = uint64_t(head.producers) * sizeof(uint32_t);
        if (sizeof head + rows + producers + head.string_bytes != payload.size())
            fail();
        rows_ = payload.data() + sizeof head;
        producers_ = rows_ + rows;
        strings = std::string_view(reinterpret_cast<const char *>(producers_ + producers),
                                   head.string_bytes);
        if (!strings.empty() && strings.back() != '\0')
            fail();
    }

    template <class Row> Row row(uint32_t i) const {
        Row row;
        std::memcpy(&row, rows_ + size_t(i) * sizeof row, sizeof row);
        return row;
    }
    uint32_t producer(uint32_t i) const {
        uint32_t value;
        std::memcpy(&value, producers_ + size_t(i) * sizeof value, sizeof value);
        return value;
    }
    const char *string(uint32_t offset) const {
        if (offset >= strings.size())
            fail();
        return strings.data() + offset;
    }
    // No rows are left out, so that what a table takes is in proportion to what was read.
    void follows(size_t known) const {
        if (head.first > known || uint64_t(head.first) + head.rows > no_static)
            fail();
    }
    [[noreturn]] void fail() const {
        throw TraceError(std::string("the trace's table of ") + what_ +
                         " is damaged: record it again");
    }

    tc_raw_table head;
    std::string_view strings;

  private:
    const char *what_;
    const uint8_t *rows_, *producers_;
};

template <class Row> std::vector<Row> rows_of(Bytes payload, uint32_t records, const char *what) {
    if (payload.size() != uint64_t(records) * sizeof(Row))
        throw TraceError(std::string("the trace's table of ") + what +
                         " is damaged: record it again");
    std::vector<Row> rows(records);
    if (records)
        std::memcpy(rows.data(), payload.data(), payload.size());
    return rows;
}

} // namespace

void Tables::add_statics(Bytes payload) {
    const Table table(payload, sizeof(tc_raw_static), "instructions");
    table.follows(statics.size());
    std::vector<StaticInstruction> added;
    for (uint32_t i = 0; i < table.head.rows; i++) {
        const auto row = table.row<tc_raw_static>(i);
        if (row.store > 1 || row.bytes > TC_RAW_MAX_BYTES ||
            uint64_t(row.first_producer) + row.producers > table.head.producers)
            table.fail();
        table.string(row.position);
        added.push_back({row.bytes, row.store != 0, uint32_t(producers.size()) + row.first_producer,
                         row.producers, uint32_t(strings_.size()) + row.position});
    }
    if (producers.size() + table.head.producers > UINT32_MAX ||
        strings_.size() + table.strings.size() > UINT32_MAX)
        table.fail();
    for (uint32_t i = 0; i < table.head.producers; i++)
        producers.push_back(table.producer(i));
    strings_.append(table.strings);
    statics.resize(std::max<size_t>(statics.size(), table.head.first + added.size()));
    std::copy(added.begin(), added.end(), statics.begin() + table.head.first);
}

void Tables::add_names(Bytes payload, std::vector<std::string> &names, const char *what) {
    const Table table(payload, sizeof(tc_raw_name), what);
    table.follows(names.size());
    if (table.head.producers)
        table.fail();
    std::vector<std::string> added;
    added.reserve(table.head.rows);
    for (uint32_t i = 0; i < table.head.rows; i++)
        added.emplace_back(table.string(table.row<tc_raw_name>(i).name));
    names.resize(std::max<size_t>(names.size(), table.head.first + added.size()));
    std::move(added.begin(), added.end(), names.begin() + table.head.first);
}

void Tables::add_pages(Bytes payload, uint32_t records) {
    constexpr uint64_t end_of_addresses = uint64_t(1) << 57;
    constexpr size_t most_ranges = size_t(1) << 20;
    const auto rows = rows_of<tc_raw_pages>(payload, records, "large pages");
    std::vector<LargePages::Range> added;
    for (const tc_raw_pages &row : rows) {
        if (row.address % TC_RAW_LARGE_PAGE || row.bytes % TC_RAW_LARGE_PAGE || row.bytes == 0 ||
            row.address >= end_of_addresses || row.bytes > end_of_addresses - row.address)
            throw TraceError("the trace's table of large pages is damaged: record it again");
        added.push_back({row.address, row.address + row.bytes});
    }
    if (large.ranges().size() + added.size() > most_ranges)
        throw TraceError("the trace has more ranges of large pages than can be kept");
    large.add(std::move(added));
    pages_known = true;
}

void Tables::add(ChunkKind kind, uint32_t records, Bytes payload) {
    switch (kind) {
    case ChunkKind::meta: {
        auto object = nlohmann::json::parse(payload.begin(), payload.end(), nullptr, false);
        if (!object.is_object())
            throw TraceError("the trace's description is no JSON object: record it again");
        meta.update(object);
        break;
    }
    case ChunkKind::statics:
        add_statics(payload);
        break;
    case ChunkKind::owners:
        add_names(payload, owners, "owners");
        break;
    case ChunkKind::functions:
        add_names(payload, functions, "functions");
        break;
    case ChunkKind::window:
        for (const auto &row : rows_of<tc_raw_window>(payload, records, "windows"))
            windows.push_back(row);
        break;
    case ChunkKind::end:
        ends = rows_of<tc_raw_thread_end>(payload, records, "threads");
        ended = true;
        break;
    case ChunkKind::pages:
        add_pages(payload, records);
        break;
    default:
        throw TraceError("a chunk of the trace is no table: record it again");
    }
    version++;
}

namespace {

template <class Row> void append(std::vector<uint8_t> &to, const Row *rows, size_t count) {
    const auto *bytes = reinterpret_cast<const uint8_t *>(rows);
    to.insert(to.end(), bytes, bytes + count * sizeof(Row));
}

template <class Row>
TablePayload table_of(ChunkKind kind, uint32_t first, const std::vector<Row> &rows,
                      const std::vector<uint32_t> &producers, const std::string &strings) {
    const tc_raw_table head{first, uint32_t(rows.size()), uint32_t(producers.size()),
                            uint32_t(strings.size())};
    TablePayload table{kind, head.rows, {}};
    append(table.bytes, &head, 1);
    append(table.bytes, rows.data(), rows.size());
    append(table.bytes, producers.data(), producers.size());
    append(table.bytes, strings.data(), strings.size());
    return table;
}

// A row that alone would not fit is cut: such a name or list is nobody's.
constexpr size_t max_string = 8192, max_producers = 1024, room = 49152;

} // namespace

std::vector<TablePayload> static_tables(uint32_t first, std::span<const StaticRow> rows) {
    std::vector<TablePayload> tables;
    for (size_t at = 0; at < rows.size();) {
        std::vector<tc_raw_static> table;
        std::vector<uint32_t> producers;
        std::string strings;
        const uint32_t begin = first + uint32_t(at);
        for (; at < rows.size() &&
               table.size() * sizeof(tc_raw_static) + producers.size() * 4 + strings.size() < room;
             at++) {
            const StaticRow &row = rows[at];
            const auto count = uint32_t(std::min(row.producers.size(), max_producers));
            table.push_back({row.bytes, row.store, uint32_t(producers.size()), count,
                             uint32_t(strings.size())});
            producers.insert(producers.end(), row.producers.begin(), row.producers.begin() + count);
            strings.append(row.position.c_str(), std::min(row.position.size(), max_string));
            strings.push_back('\0');
        }
        tables.push_back(table_of(ChunkKind::statics, begin, table, producers, strings));
    }
    return tables;
}

std::vector<TablePayload> name_tables(ChunkKind kind, uint32_t first,
                                      std::span<const std::string> names) {
    std::vector<TablePayload> tables;
    for (size_t at = 0; at < names.size();) {
        std::vector<tc_raw_name> table;
        std::string strings;
        const uint32_t begin = first + uint32_t(at);
        for (; at < names.size() && table.size() * sizeof(tc_raw_name) + strings.size() < room;
             at++) {
            table.push_back({uint32_t(strings.size())});
            strings.append(names[at].c_str(), std::min(names[at].size(), max_string));
            strings.push_back('\0');
        }
        tables.push_back(table_of(kind, begin, table, {}, strings));
    }
    return tables;
}

TablePayload meta_table(const nlohmann::json &meta) {
    const std::string text = meta.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
    return {ChunkKind::meta, 1, std::vector<uint8_t>(text.begin(), text.end())};
}

} // namespace thermocline
