// A profile's time series: per site read, written and resident bytes, in at most 256 equal
// intervals.  When they are full, two become one.
#pragma once
#include <cstdint>

constexpr unsigned series_most = 256;

struct SeriesPoint { // what an interval adds to, and the site's residency at its end
    uint64_t read_bytes, write_bytes, resident_bytes;
};

// Rows 0 .. 2 are the non-heap kinds (stack, globals, other); site s is row s + 2.
constexpr uint32_t series_row_of_site(uint32_t site) { return site + 2; }

bool series_start(uint64_t interval_nanoseconds);
// Time goes on to `nanoseconds` since the start: later points belong there.
void series_advance(uint64_t nanoseconds);
// Adds traffic to the current interval and raises its residency.
void series_add(uint32_t row, const SeriesPoint &);
SeriesPoint series_at(uint32_t row, unsigned interval);

unsigned series_count();
uint64_t series_interval(); // nanoseconds
void series_restart();
