// Ranges in the memory of nodes; which node is tested on a machine with several (tests/twonode).
#include "mappings.h"
#include "thermocline/policies.h"

using namespace check;

static constexpr size_t mib = size_t(1) << 20;

static void expect_usable(void *p, size_t bytes) {
    if (!p) {
        expect_eq(std::string(tc_policy_error()), std::string("no failure"));
        return;
    }
    char *start = static_cast<char *>(p);
    const uintptr_t address = reinterpret_cast<uintptr_t>(p);
    for (size_t at = 0; at < bytes; at += 4096)
        expect_eq(static_cast<int>(start[at]), 0);
    memset(start, 7, bytes);
    expect_eq(static_cast<int>(start[bytes - 1]), 7);
    tc_policy_free(p, bytes);
    expect_eq(mappings_of(address, address + bytes), std::string());
}

TEST(ranges_are_zeroed_and_go_away) {
    for (size_t bytes : {size_t(1), size_t(4096), size_t(5000), 2 * mib, 5 * mib + 1, 33 * mib}) {
        expect_usable(tc_spill(bytes, nullptr), bytes);
        expect_usable(tc_write_heavy(bytes, nullptr), bytes);
        tc_memory memory;
        expect_eq(tc_memory_parse(&memory, "0:- weights 70:30"), 0);
        const tc_spill_options weighted = {&memory, 65536, 1};
        expect_usable(tc_spill(bytes, &weighted), bytes);
    }
}

TEST(large_ranges_begin_at_a_huge_page) {
    void *p = tc_spill(64 * mib, nullptr);
    expect_eq(reinterpret_cast<uintptr_t>(p) % (2 * mib), uintptr_t(0));
    tc_policy_free(p, 64 * mib);
    tc_policy_free(nullptr, 1);
}

static void expect_refused(const void *p, const char *why, long before) {
    expect_eq(p == nullptr, true);
    expect_eq(said_or_all(why), std::string(why));
    expect_eq(mapped_pages(), before);
}

TEST(what_makes_no_sense_is_refused_before_anything_is_mapped) {
    tc_memory memory = {}, wrong = {};
    expect_eq(tc_memory_parse(&memory, "0:-"), 0);
    (void)mapped_pages();
    const long before = mapped_pages();
    expect_refused(tc_spill(0, nullptr), "has 1 to", before);
    expect_refused(tc_spill(SIZE_MAX - 1, nullptr), "has 1 to", before);
    expect_refused(tc_spill(size_t(1) << 50, nullptr), "MiB free in the memories", before);
    expect_refused(tc_write_heavy(size_t(1) << 50, nullptr), "free in the fast memories", before);
    tc_spill_options options = {&memory, 1000, 0};
    expect_refused(tc_spill(mib, &options), "blocks are whole pages, not 1000 bytes", before);
    options = {&memory, 4096, 0};
    expect_refused(tc_spill(1024 * mib, &options), "make block_bytes larger", before);
    options = {&memory, 0, 1};
    expect_refused(tc_spill(mib, &options), "no weights are known", before);
    options = {&wrong, 0, 0};
    expect_refused(tc_spill(mib, &options), "1 to 16 sockets", before);
    wrong = memory;
    wrong.fast_percent = 99;
    expect_refused(tc_spill(mib, &options), "add up to 99", before);
    tc_isolation_options isolation = {};
    isolation.memory = &memory;
    expect_refused(tc_read_mostly(mib, &isolation), "no node of big memory", before);
}
