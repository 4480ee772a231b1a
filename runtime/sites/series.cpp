// See series.h.  A row exists once it has something to say, and its numbers are kept in 32 bits, in
// cache lines and pages: 3 KiB a site at most.
#include "series.h"
#include "own_memory.h"
#include "site_stats.h"

namespace {

constexpr uint32_t row_limit = series_row_of_site(site_limit);
constexpr uint64_t line_bytes = 64, page_bytes = 4096;

struct Row {
    uint32_t read_lines[series_most], written_lines[series_most], resident_pages[series_most];
};

Row **rows;
uint32_t row_end;
uint64_t interval, first_interval;
unsigned current; // the interval that points go to

uint32_t clamped(uint64_t value) { return value > UINT32_MAX ? UINT32_MAX : uint32_t(value); }

void halve() {
    for (uint32_t r = 0; r < row_end; ++r) {
        Row *row = rows[r];
        if (!row)
            continue;
        for (unsigned i = 0; i < series_most / 2; ++i) {
            auto sum = [i](const uint32_t *of) {
                return clamped(uint64_t(of[2 * i]) + of[2 * i + 1]);
            };
            row->read_lines[i] = sum(row->read_lines);
            row->written_lines[i] = sum(row->written_lines);
            uint32_t a = row->resident_pages[2 * i], b = row->resident_pages[2 * i + 1];
            row->resident_pages[i] = a > b ? a : b;
        }
        for (unsigned i = series_most / 2; i < series_most; ++i)
            row->read_lines[i] = row->written_lines[i] = row->resident_pages[i] = 0;
    }
    interval *= 2;
    current /= 2;
}

} // namespace

bool series_start(uint64_t interval_nanoseconds) {
    rows = static_cast<Row **>(own_memory_map(row_limit * sizeof(Row *)));
    interval = first_interval = interval_nanoseconds ? interval_nanoseconds : 1;
    return rows != nullptr;
}

void series_advance(uint64_t nanoseconds) {
    while (nanoseconds / interval >= series_most)
        halve();
    unsigned next = unsigned(nanoseconds / interval);
    // Between samples residency is taken to be the last one's.
    unsigned last = current < next ? current : next;
    for (uint32_t r = 0; r < row_end; ++r)
        for (unsigned i = last + 1; rows[r] && i < next; ++i)
            rows[r]->resident_pages[i] = rows[r]->resident_pages[last];
    current = next;
}

void series_add(uint32_t index, const SeriesPoint &point) {
    if (!point.read_bytes && !point.write_bytes && !point.resident_bytes)
        return;
    Row *&row = rows[index];
    if (!row)
        row = static_cast<Row *>(own_memory_map(sizeof(Row)));
    if (!row)
        return;
    if (index >= row_end)
        row_end = index + 1;
    row->read_lines[current] = clamped(row->read_lines[current] + point.read_bytes / line_bytes);
    row->written_lines[current] =
        clamped(row->written_lines[current] + point.write_bytes / line_bytes);
    uint32_t pages = clamped((point.resident_bytes + page_bytes - 1) / page_bytes);
    if (pages > row->resident_pages[current])
        row->resident_pages[current] = pages;
}

SeriesPoint series_at(uint32_t index, unsigned i) {
    const Row *row = rows[index];
    if (!row)
        return {};
    return {row->read_lines[i] * line_bytes, row->written_lines[i] * line_bytes,
            row->resident_pages[i] * page_bytes};
}

unsigned series_count() { return current + 1; }
uint64_t series_interval() { return interval; }

void series_restart() {
    for (uint32_t r = 0; r < row_end; ++r)
        if (rows[r])
            *rows[r] = {};
    interval = first_interval;
    current = 0;
}
