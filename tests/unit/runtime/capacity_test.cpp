// Grants of chunks to tiers, with the kernel's part replaced by a record of the calls.
#include "capacity.h"
#include "check.h"
#include "runtime.h"
#include "tiers.h"
#include <thread>

extern "C" {
void alloc_commits(void *, size_t);
bool alloc_decommits(void *, size_t);
size_t alloc_commit_unit(const void *);
void alloc_commit_lazily() {}
}

namespace tc {

Ranges ranges;

void trace_pages_returned(const void *, uint64_t) {}

static std::string bound; // "chunk+count>tier " for each call
bool prefer_tier(void *start, size_t bytes, unsigned tier) {
    const size_t chunk = (reinterpret_cast<uintptr_t>(start) - ranges.start) / chunk_bytes;
    bound += std::to_string(chunk) + "+" + std::to_string(bytes / chunk_bytes) + ">" +
             std::to_string(tier) + " ";
    return true;
}

} // namespace tc

using namespace tc;

namespace {

char *at(unsigned tier, size_t chunk) { return range_start(tier) + chunk * chunk_bytes; }

// Tiers with room for so many chunks, and a class of equal shares behind them if asked for.
void begin(std::initializer_list<uint64_t> chunks, bool split = false) {
    ranges.start = uintptr_t(1) << 40;
    ranges.shift = 30;
    ranges.tiers = static_cast<unsigned>(chunks.size());
    ranges.count = ranges.tiers + split;
    Config config{};
    for (uint64_t each : chunks)
        config.tiers[config.tier_count++].capacity = each * chunk_bytes;
    config.class_count = ranges.count;
    for (unsigned tier = 0; tier < ranges.tiers; tier++)
        ranges.share_ends[ranges.tiers][tier] = ((tier + 1ull) << 32) / ranges.tiers;
    expect_true(start_capacity(config));
}

uint64_t chunks(const uint64_t *bytes, unsigned tier) { return bytes[tier] / chunk_bytes; }

} // namespace

TEST(without_limits_nothing_is_counted) {
    begin({0, 0});
    alloc_commits(at(0, 0), 10 * chunk_bytes);
    expect_eq(grants_chunks(), false);
    expect_eq(capacity.granted[0], 0u);
    expect_eq(ranges.used[0], 10 * chunk_bytes);
    expect_eq(alloc_decommits(at(0, 0), chunk_bytes), false);
}

TEST(a_full_tier_spills_to_the_next) {
    begin({4, 0});
    alloc_commits(at(0, 0), 3 * chunk_bytes);
    expect_str(bound, "");
    alloc_commits(at(0, 10), 3 * chunk_bytes);
    expect_str(bound, "11+2>1 ");
    expect_eq(chunks(capacity.granted, 0), 4u);
    expect_eq(chunks(capacity.granted, 1), 2u);
    expect_eq(chunks(capacity.spilled, 0), 2u);
    expect_eq(granted_tier(at(0, 10), 9), 0u);
    expect_eq(granted_tier(at(0, 11), 9), 1u);
    expect_eq(granted_tier(at(0, 20), 9), 9u);
}

TEST(chunks_are_charged_once) {
    begin({4, 0});
    alloc_commits(at(0, 0), 2 * chunk_bytes);
    alloc_commits(at(0, 1), 2 * chunk_bytes);
    expect_eq(chunks(capacity.granted, 0), 3u);
}

TEST(what_is_given_back_can_be_granted_again) {
    begin({2, 0});
    alloc_commits(at(0, 0), 3 * chunk_bytes);
    expect_str(bound, "2+1>1 ");
    expect_eq(alloc_decommits(at(0, 0), 3 * chunk_bytes), true);
    expect_eq(capacity.granted[0] + capacity.granted[1] + capacity.spilled[0], 0u);
    bound.clear();
    alloc_commits(at(0, 2), chunk_bytes);
    expect_str(bound, "2+1>0 "); // its policy was tier 1's
    expect_eq(chunks(capacity.peak, 0), 2u);
    expect_eq(chunks(capacity.spilled_peak, 0), 1u);
}

TEST(classes_of_huge_pages_are_committed_by_these) {
    begin({0, 0}, true);
    expect_eq(alloc_commit_unit(at(2, 5)), 1u);
    ranges.huge[2] = true;
    expect_eq(alloc_commit_unit(at(2, 5)), huge_page_bytes);
    expect_eq(alloc_commit_unit(at(1, 5)), 1u);
    expect_eq(alloc_commit_unit(nullptr), 1u);
    ranges.huge[2] = false;
}

TEST(part_of_a_chunk_is_not_given_back) {
    begin({2, 0});
    alloc_commits(at(0, 0), 2 * chunk_bytes);
    alloc_decommits(at(0, 0) + 4096, 2 * chunk_bytes - 4096);
    expect_eq(chunks(capacity.granted, 0), 1u);
}

TEST(the_last_tier_takes_what_is_left) {
    begin({1, 1, 1});
    alloc_commits(at(0, 0), 5 * chunk_bytes);
    expect_eq(chunks(capacity.granted, 0), 1u);
    expect_eq(chunks(capacity.granted, 1), 1u);
    expect_eq(chunks(capacity.granted, 2), 3u);
    alloc_commits(at(2, 0), chunk_bytes);
    expect_eq(chunks(capacity.granted, 2), 4u);
}

TEST(a_split_class_is_dealt_by_its_shares_without_any_limit) {
    begin({0, 0}, true);
    alloc_commits(at(2, 0), 1000 * chunk_bytes);
    expect_eq(grants_chunks(), true);
    expect_le(495u, chunks(capacity.granted, 0));
    expect_le(chunks(capacity.granted, 0), 505u);
    expect_eq(chunks(capacity.granted, 0) + chunks(capacity.granted, 1), 1000u);
    expect_eq(capacity.spilled[0] + capacity.spilled[1], 0u);
    // The range is the last tier's; only the others' chunks are bound anew, and only once.
    expect_true(bound.find(">0 ") != std::string::npos);
    expect_true(bound.find(">1 ") == std::string::npos);
    bound.clear();
    alloc_decommits(at(2, 0), 1000 * chunk_bytes);
    expect_eq(capacity.granted[0] + capacity.granted[1], 0u);
    alloc_commits(at(2, 0), 1000 * chunk_bytes);
    expect_str(bound, "");
}

TEST(a_split_class_spills_what_was_wanted_in_a_full_tier) {
    begin({100, 0}, true);
    alloc_commits(at(2, 0), 500 * chunk_bytes);
    expect_eq(chunks(capacity.granted, 0), 100u);
    expect_eq(chunks(capacity.granted, 1), 400u);
    expect_le(145u, chunks(capacity.spilled, 0));
    expect_le(chunks(capacity.spilled, 0), 155u);
    alloc_decommits(at(2, 0), 500 * chunk_bytes);
    expect_eq(capacity.granted[0] + capacity.granted[1] + capacity.spilled[0], 0u);
}

TEST(far_into_a_range_chunks_are_dealt_in_groups) {
    begin({0, 0, 0}, true);
    ranges.shift = 40;
    size_t groups = 0, first = 0, all = (size_t(1) << 30) / chunk_bytes * 100; // 100 GiB
    for (size_t chunk = 1; chunk < all; chunk++)
        groups += wanted_tier(3, at(3, chunk)) != wanted_tier(3, at(3, chunk - 1));
    expect_le(groups, 512u + 256u * 12u); // each may be a mapping
    for (size_t chunk = 0; chunk < all; chunk++)
        first += wanted_tier(3, at(3, chunk)) == 0;
    expect_le(all * 32 / 100, first);
    expect_le(first, all * 35 / 100);
}

TEST(threads_never_pass_the_limit) {
    begin({1000, 0});
    std::vector<std::thread> threads;
    for (size_t t = 0; t < 4; t++)
        threads.emplace_back([t] {
            for (size_t i = 0; i < 20000; i++) {
                char *const mine = at(0, t * 1000 + i % 500);
                alloc_commits(mine, chunk_bytes);
                if (__atomic_load_n(&capacity.granted[0], __ATOMIC_RELAXED) > 1000 * chunk_bytes)
                    check::fail(__FILE__, __LINE__, "over the limit");
                if (i % 3)
                    alloc_decommits(mine, chunk_bytes);
            }
        });
    for (std::thread &thread : threads)
        thread.join();
    expect_le(capacity.peak[0], 1000 * chunk_bytes);
    for (size_t t = 0; t < 4; t++)
        alloc_decommits(at(0, t * 1000), 500 * chunk_bytes);
    expect_eq(capacity.granted[0] + capacity.granted[1] + capacity.spilled[0], 0u);
}
