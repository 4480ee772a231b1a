// Resident bytes: what the page map says, who is charged, and the time series.
#include "check.h"
#include "own_memory.h"
#include "page_scan.h"
#include "residency.h"
#include "series.h"
#include "site_heap.h"
#include "site_heap_span.h"
#include "site_stats.h"
#include <fcntl.h>
#include <sys/mman.h>

namespace {

constexpr size_t mib = 1 << 20;

char *take(uint32_t site, size_t size) {
    return static_cast<char *>(site_heap_malloc(site, size, 16, false));
}

int pagemap() {
    static int file = open("/proc/self/pagemap", O_RDONLY | O_CLOEXEC);
    expect_ge(file, 0);
    return file;
}

bool start() { return site_heap_reserve() && residency_start(); }

// Every other page of 8 MiB: more runs than one call of the kernel reports.
TEST(all_ways_of_scanning_agree) {
    expect_true(start());
    char *block = take(1, 8 * mib);
    for (size_t at = 0; at < 8 * mib; at += 8192)
        block[at] = 1;
    uintptr_t from = reinterpret_cast<uintptr_t>(block);
    expect_eq(resident_bytes(pagemap(), from, from + 8 * mib), uint64_t(4 * mib));
    expect_eq(resident_bytes(-1, from, from + 8 * mib), uint64_t(4 * mib));
    int not_a_pagemap = open("/dev/null", O_RDONLY); // falls through to mincore
    expect_eq(resident_bytes(not_a_pagemap, from, from + 8 * mib), uint64_t(4 * mib));
}

TEST(pages_are_charged_to_their_site) {
    expect_true(start());
    char *large = take(1, 8 * mib);
    memset(large, 1, 3 * mib);
    for (int i = 0; i < 20000; ++i)
        memset(take(2, 500), 1, 500);
    residency_sample(pagemap());
    expect_eq(residency_of(1).now.load(), uint64_t(3 * mib));
    expect_ge(residency_of(2).now.load(), uint64_t(20000 * 500));
    expect_lt(residency_of(2).now.load(), uint64_t(20000 * 500 * 1.1));
    site_heap_free(large);
    residency_sample(pagemap());
    expect_eq(residency_of(1).now.load(), uint64_t(0));
    expect_eq(residency_of(1).peak.load(), uint64_t(3 * mib));
    expect_eq(residency_of(1).at_peak, uint64_t(3 * mib));
}

// A sample may come while the kernel takes the pages of a freed block, which takes a while: they
// are no other memory of the program's, which a plan would leave room for.
TEST(pages_stay_their_sites_until_they_are_gone) {
    expect_true(start());
    static uint32_t owner;
    static uint64_t bytes;
    char *block = take(7, 8 * mib);
    memset(block, 1, 8 * mib);
    pages_returned = [](const void *from, uint64_t count) {
        owner = tc_owner_of(reinterpret_cast<uintptr_t>(from));
        bytes = count;
    };
    site_heap_free(block);
    pages_returned = nullptr;
    expect_eq(bytes, uint64_t(8 * mib));
    expect_eq(owner, 7u);
    expect_eq(tc_owner_of(reinterpret_cast<uintptr_t>(block)), 0u);
}

// 100 sites with one block each, of which one is three times as large.
TEST(tagged_pages_are_shared_by_live_bytes) {
    expect_true(start());
    for (uint32_t site = 1; site <= 100; ++site)
        memset(take(site, site == 1 ? 1536 : 512), 1, 512);
    residency_sample(pagemap());
    uint64_t one = residency_of(2).now.load();
    expect_ge(one, uint64_t(512));
    expect_lt(one, uint64_t(2048));
    uint64_t three = residency_of(1).now.load();
    expect_ge(three, 3 * one - 3);
    expect_le(three, 3 * one + 3);
}

TEST(the_last_block_on_tagged_pages_does_not_answer_for_all) {
    expect_true(start());
    std::vector<char *> blocks;
    for (uint32_t site = 1; site <= 1000; ++site) {
        blocks.push_back(take(site, 64));
        memset(blocks.back(), 1, 64);
    }
    for (size_t i = 1; i < blocks.size(); ++i)
        site_heap_free(blocks[i]);
    residency_sample(pagemap());
    expect_ge(residency_of(1).now.load(), uint64_t(64));
    expect_le(residency_of(1).now.load(), uint64_t(4096));
}

TEST(a_peak_between_two_samples_is_seen) {
    expect_true(start());
    residency_sample(pagemap());
    char *block = take(5, 32 * mib);
    memset(block, 1, 32 * mib);
    usleep(20000); // a sample now costs less than 1 % of the time since the last
    site_heap_free(block);
    residency_sample(pagemap());
    expect_eq(residency_of(5).peak.load(), uint64_t(32 * mib));
    expect_eq(residency_of(5).at_peak, uint64_t(32 * mib));
    expect_ge(residency_peak(), uint64_t(32 * mib));
}

TEST(first_touches_keep_their_order) {
    expect_true(start());
    residency_sample(pagemap());
    char *later = take(1, mib), *first = take(2, mib), *untouched = take(3, mib);
    usleep(2000);
    char *second = take(4, mib);
    memset(first, 1, mib);
    memset(second, 1, mib);
    residency_sample(pagemap());
    later[0] = 1;
    residency_sample(pagemap());
    expect_ne(residency_of(2).first_touch, uint64_t(0));
    expect_lt(residency_of(2).first_touch, residency_of(4).first_touch);
    expect_lt(residency_of(4).first_touch, residency_of(1).first_touch);
    expect_eq(residency_of(3).first_touch, uint64_t(0));
    expect_ne(untouched, nullptr);
}

volatile char globals[4 * mib];

TEST(what_is_not_heap) {
    expect_true(start());
    site_heap_free(take(1, 16)); // this thread's stack is known from now on
    NonHeapBytes before = nonheap_resident(pagemap());
    for (size_t at = 0; at < sizeof globals; at += 4096)
        globals[at] = 1;
    NonHeapBytes touched = nonheap_resident(pagemap());
    expect_ge(touched.globals - before.globals, uint64_t(4 * mib - 8192)); // its ends may be in use
    char on_stack[2 * mib];
    for (size_t at = 0; at < sizeof on_stack; at += 4096)
        static_cast<volatile char *>(on_stack)[at] = 1;
    expect_ge(nonheap_resident(pagemap()).stack, touched.stack + 2 * mib - 65536);
    void *mapped =
        mmap(nullptr, 3 * mib, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    memset(mapped, 1, 3 * mib);
    expect_ge(nonheap_resident(pagemap()).other, before.other + 3 * mib);
    // The runtime's own is nobody's.
    uint64_t other = nonheap_resident(pagemap()).other;
    memset(own_memory_map(5 * mib), 1, 5 * mib);
    expect_lt(nonheap_resident(pagemap()).other, other + mib);
}

TEST(series_halve_when_full) {
    expect_true(series_start(100));
    uint32_t row = series_row_of_site(7);
    uint64_t read = 0;
    for (uint64_t i = 0; i < 5 * series_most; ++i) {
        series_advance(i * 100);
        series_add(row, {64 * i, 64, 4096 * (i % 10)});
        read += 64 * i;
    }
    expect_le(series_count(), series_most);
    expect_ge(series_count(), series_most / 2);
    expect_eq(series_interval(), uint64_t(800));
    uint64_t sum = 0, written = 0, most = 0;
    for (unsigned i = 0; i < series_count(); ++i) {
        SeriesPoint point = series_at(row, i);
        sum += point.read_bytes;
        written += point.write_bytes;
        most = std::max(most, point.resident_bytes);
    }
    expect_eq(sum, read);
    expect_eq(written, uint64_t(64 * 5 * series_most));
    expect_eq(most, uint64_t(4096 * 9));
    expect_eq(series_at(row, 0).write_bytes, uint64_t(64 * 8));
    expect_eq(series_at(row + 1, 0).read_bytes, uint64_t(0));
}

TEST(series_carry_residency_over_intervals_without_a_sample) {
    expect_true(series_start(100));
    uint32_t row = series_row_of_site(1);
    series_advance(50);
    series_add(row, {0, 0, 8192});
    series_advance(450);
    series_add(row, {0, 0, 4096});
    expect_eq(series_at(row, 3).resident_bytes, uint64_t(8192));
    expect_eq(series_at(row, 4).resident_bytes, uint64_t(4096));
}

} // namespace
