// The profiling heap: what a program can see of it, and what its counts say.
#include "check.h"
#include "site_heap.h"
#include "site_heap_span.h"
#include "site_stats.h"
#include <csignal>
#include <sys/mman.h>
#include <thread>

namespace {

uintptr_t address(const void *p) { return reinterpret_cast<uintptr_t>(p); }

void *take(uint32_t site, size_t size) { return site_heap_malloc(site, size, 16, false); }

size_t unit_of(const void *p) {
    return (address(p) - site_heap_range.base) >> site_heap_unit_shift;
}

TEST(size_classes_hold_what_they_should_and_waste_little) {
    for (size_t size = 0; size <= largest_slot; ++size) {
        size_t slot = slot_bytes(class_of(size));
        expect_ge(slot, size);
        expect_eq(slot % 16, size_t(0));
        if (size > 128)
            expect_lt((slot - size) * 8, size);
        if (class_of(size))
            expect_lt(slot_bytes(class_of(size) - 1), size); // no smaller one would do
    }
}

TEST(slot_index_divides) {
    for (unsigned c = 0; c < class_count; ++c)
        for (size_t offset = 0; offset < units_of_class(c) * unit_bytes; ++offset)
            expect_eq(slot_index(offset, c), offset / slot_bytes(c));
}

TEST(stamps_are_close_and_grow) {
    uint64_t last = 0;
    for (uint64_t time = 1; time < uint64_t(1) << 40; time += time / 777 + 1) {
        uint64_t back = time_of_stamp(stamp_of(time));
        expect_le(back, time);
        expect_le((time - back) * 1024, time);
        expect_ge(back, last);
        last = back;
    }
    expect_eq(stamp_of(~uint64_t(0)), stamp_max);
}

TEST(nothing_is_contained_before_the_start) {
    int local = 0;
    expect_true(!site_heap_contains(&local));
    expect_true(!site_heap_contains(nullptr));
    expect_eq(tc_owner_of(address(&local)), 0u);
    expect_true(site_heap_reserve());
    expect_true(!site_heap_contains(&local));
    expect_true(site_heap_contains(take(1, 1)));
}

TEST(every_byte_of_a_block_has_its_owner) {
    expect_true(site_heap_reserve());
    uint32_t site = 1;
    for (size_t size : {0, 1, 16, 17, 64, 100, 5000, 8192, 8193, 65536, 65537, 1000000}) {
        void *block = take(++site, size);
        for (size_t i = 0; i < (size ? size : 1); i += 61)
            expect_eq(tc_owner_of(address(block) + i), site);
        expect_ge(site_heap_usable(block), size);
        site_heap_free(block);
    }
}

TEST(every_alignment) {
    expect_true(site_heap_reserve());
    for (size_t align = 1; align <= size_t(1) << 24; align *= 2)
        for (size_t size : {1, 100, 5000, 100000}) {
            void *block = site_heap_malloc(3, size, align, false);
            expect_eq(address(block) % align, size_t(0));
            expect_eq(address(block) % 16, size_t(0));
            expect_eq(tc_owner_of(address(block) + size - 1), 3u);
            site_heap_free(block);
        }
}

TEST(impossible_sizes_fail) {
    expect_true(site_heap_reserve());
    expect_eq(site_heap_malloc(1, SIZE_MAX, 16, false), nullptr);
    expect_eq(site_heap_malloc(1, SIZE_MAX - 70000, 16, false), nullptr);
    expect_eq(site_heap_malloc(1, size_t(1) << 46, 16, false), nullptr);
    expect_eq(site_heap_malloc(1, 16, size_t(1) << 50, false), nullptr);
    void *block = take(1, 100);
    expect_eq(site_heap_realloc(1, block, SIZE_MAX), nullptr);
    expect_eq(tc_owner_of(address(block)), 1u);
}

TEST(fresh_zeroed_memory_is_not_touched) {
    expect_true(site_heap_reserve());
    size_t bytes = 16 << 20;
    auto *block = static_cast<char *>(site_heap_malloc(1, bytes, 16, true));
    std::vector<unsigned char> pages(bytes / 4096);
    expect_eq(mincore(block, bytes, pages.data()), 0);
    for (unsigned char page : pages)
        expect_eq(page & 1, 0);
}

TEST(freed_pages_go_back_to_the_kernel) {
    expect_true(site_heap_reserve());
    size_t bytes = 2 << 20;
    void *block = take(1, bytes);
    memset(block, 1, bytes);
    site_heap_free(block);
    std::vector<unsigned char> pages(bytes / 4096);
    expect_eq(mincore(block, bytes, pages.data()), 0);
    for (unsigned char page : pages)
        expect_eq(page & 1, 0);
    expect_eq(tc_owner_of(address(block)), 0u);
}

// So that a loop of malloc and free costs no system calls.
TEST(a_few_freed_large_blocks_wait_for_their_site) {
    expect_true(site_heap_reserve());
    size_t bytes = 200000;
    std::thread([bytes] {
        void *block = take(1, bytes);
        memset(block, 1, bytes);
        site_heap_free(block);
        void *other = take(2, bytes), *same = take(1, bytes);
        expect_ne(other, block); // no page goes to another site
        expect_eq(same, block);
        site_heap_free(same);
        auto *zeroed = static_cast<char *>(site_heap_malloc(1, bytes, 16, true));
        expect_eq(static_cast<void *>(zeroed), block);
        size_t dirty = 0;
        for (size_t at = 0; at < bytes; ++at)
            dirty += zeroed[at] != 0;
        expect_eq(dirty, size_t(0));
        site_heap_free(zeroed);
        site_heap_free(other);

        std::vector<void *> many;
        for (int i = 0; i < 100; ++i)
            many.push_back(take(1, bytes));
        for (void *each : many)
            site_heap_free(each);
        expect_le(units_in_use() * unit_bytes, size_t(2 << 20));
    }).join();
    expect_eq(units_in_use(), size_t(0)); // the thread's end gives them back
}

// A site shares tagged spans, at most one block a line, until what it holds pays for its own.
TEST(a_site_earns_its_spans) {
    expect_true(site_heap_reserve());
    std::vector<char *> first, second;
    unsigned blocks_until_earned = 0;
    for (unsigned i = 0; i < 1000; ++i) {
        first.push_back(static_cast<char *>(take(1, 16)));
        second.push_back(static_cast<char *>(take(2, 16)));
        if (unit_owner(unit_of(first.back())) & site_heap_tagged) {
            blocks_until_earned = i;
            expect_eq(address(first.back()) % 64, uintptr_t(0));
        }
    }
    expect_true(unit_owner(unit_of(first[0])) & site_heap_tagged);
    expect_eq(unit_of(first[0]), unit_of(second[0]));
    expect_ne(unit_of(first[999]), unit_of(second[999]));
    expect_lt(blocks_until_earned, 500u);
    expect_ge(blocks_until_earned, 100u);
    // One that holds little at a time never does.
    for (unsigned i = 0; i < 100000; ++i) {
        void *block = take(3, 16);
        expect_true(unit_owner(unit_of(block)) & site_heap_tagged);
        site_heap_free(block);
    }
}

TEST(realloc_keeps_contents_and_changes_owner) {
    expect_true(site_heap_reserve());
    auto *block = static_cast<char *>(take(1, 10));
    strcpy(block, "contents");
    void *same = site_heap_realloc(1, block, 12);
    expect_eq(same, static_cast<void *>(block)); // it fits
    auto *moved = static_cast<char *>(site_heap_realloc(2, block, 12));
    expect_ne(moved, block);
    expect_str(moved, "contents");
    expect_eq(tc_owner_of(address(moved)), 2u);
    auto *large = static_cast<char *>(site_heap_realloc(2, moved, 1000000));
    expect_str(large, "contents");
    auto *larger = static_cast<char *>(site_heap_realloc(2, large, 2000000));
    expect_eq(larger, large); // nothing lies behind it
    auto *shorter = static_cast<char *>(site_heap_realloc(2, larger, 70000));
    expect_eq(shorter, large);
    expect_eq(tc_owner_of(address(large) + 1500000), 0u);
    expect_str(shorter, "contents");
}

TEST(counts_are_exact_for_one_thread) {
    expect_true(site_heap_reserve());
    void *a = take(7, 100), *b = take(7, 1000), *c = take(7, 1000000);
    site_heap_free(b);
    void *d = take(7, 10);
    site_heap_free(c);
    SiteStats stats = stats_read(7, stats_now());
    expect_eq(stats.allocations, uint64_t(4));
    expect_eq(stats.frees, uint64_t(2));
    expect_eq(stats.allocated_bytes, uint64_t(1001110));
    expect_eq(stats.live_bytes, int64_t(110));
    expect_eq(stats.peak_live_bytes, int64_t(1001100));
    site_heap_free(a);
    site_heap_free(d);
    expect_eq(stats_read(7, stats_now()).live_bytes, int64_t(0));
    expect_eq(stats_read(8, stats_now()).allocations, uint64_t(0));
}

TEST(lifetimes) {
    expect_true(site_heap_reserve());
    void *first = take(1, 50), *lasting = take(1, 50);
    usleep(60000);
    site_heap_free(first); // 0.06 s
    void *second = take(1, 50);
    usleep(20000);
    site_heap_free(second); // 0.02 s
    uint64_t now = stats_now();
    SiteStats stats = stats_read(1, now);
    // (0.06 + 0.02 + 0.08) / 3 at least; sleeps may be longer.
    expect_ge(stats.mean_lifetime_seconds, 0.0533);
    expect_lt(stats.mean_lifetime_seconds, 0.5);
    expect_ge(stats.longest_dead_seconds, 0.0599);
    std::vector<uint64_t> ages(2);
    stats_longest_live(now, ages.data(), 2);
    expect_ge(stats_seconds(ages[1]), 0.0799);
    expect_ge(stats_seconds(ages[1]), stats.longest_dead_seconds);
    site_heap_free(lasting);
}

TEST(an_ended_threads_spans_are_used_again_by_the_same_site) {
    expect_true(site_heap_reserve());
    std::vector<void *> kept;
    std::thread([&] {
        for (int i = 0; i < 2000; ++i) {
            void *block = take(1, 1000);
            if (i % 10 == 0)
                kept.push_back(block);
            else
                site_heap_free(block);
            if (i % 10)
                kept.push_back(take(1, 1000));
        }
    }).join();
    size_t in_use = units_in_use();
    for (size_t i = 0; i < kept.size(); i += 2)
        site_heap_free(kept[i]); // by another thread than theirs
    for (int i = 0; i < 500; ++i)
        take(1, 1000);
    expect_le(units_in_use(), in_use + 2); // main's own current spans
    std::thread([&] {
        for (int i = 0; i < 400; ++i)
            expect_eq(tc_owner_of(address(take(2, 1000))), 2u);
    }).join();
}

TEST(blocks_that_only_other_threads_free_do_not_pile_up) {
    expect_true(site_heap_reserve());
    size_t most = 0;
    for (int round = 0; round < 50; ++round) {
        std::vector<void *> blocks;
        for (int i = 0; i < 5000; ++i)
            blocks.push_back(take(1, 200));
        std::thread([&] {
            for (void *block : blocks)
                site_heap_free(block);
        }).join();
        if (round == 5)
            most = units_in_use();
    }
    expect_le(units_in_use(), most + most / 4);
}

TEST(a_forked_child_counts_for_itself) {
    expect_true(site_heap_reserve());
    void *inherited = take(1, 1000);
    take(1, 10);
    int status = 1;
    pid_t child = fork();
    if (child == 0) {
        SiteStats before = stats_read(1, stats_now());
        site_heap_free(inherited);
        for (int i = 0; i < 3; ++i)
            take(1, 100);
        SiteStats after = stats_read(1, stats_now());
        bool right = before.allocations == 0 && before.live_bytes == 1010 &&
                     after.allocations == 3 && after.frees == 1 && after.live_bytes == 310 &&
                     after.mean_lifetime_seconds >= 0 && after.mean_lifetime_seconds < 10;
        exit(right ? 0 : 1);
    }
    waitpid(child, &status, 0);
    expect_eq(status, 0);
    expect_eq(stats_read(1, stats_now()).allocations, uint64_t(2));
}

TEST(threads_may_allocate_while_one_forks) {
    expect_true(site_heap_reserve());
    std::atomic<bool> stop = false;
    std::vector<std::thread> threads;
    for (uint32_t t = 0; t < 4; ++t)
        threads.emplace_back([&stop, t] {
            for (size_t i = 0; !stop; ++i) {
                void *blocks[20];
                for (void *&block : blocks)
                    block = take(1 + t % 2, 30000 + i % 100000);
                for (void *block : blocks)
                    site_heap_free(block);
            }
        });
    for (int i = 0; i < 50; ++i) {
        pid_t child = fork();
        if (child == 0) {
            alarm(20); // a lock that a lost thread held would hang here
            for (size_t size = 1; size < 200000; size = size * 2 + 1)
                site_heap_free(take(9, size));
            _exit(0);
        }
        int status = 1;
        waitpid(child, &status, 0);
        expect_eq(status, 0);
    }
    stop = true;
    for (std::thread &thread : threads)
        thread.join();
}

TEST(a_double_free_is_said) {
    expect_true(site_heap_reserve());
    for (size_t size : {10, 20000, 1000000}) {
        pid_t child = fork();
        if (child == 0) {
            FILE *file = freopen(check::scratch("double").c_str(), "w", stderr);
            void *block = take(1, size);
            site_heap_free(block);
            if (file)
                site_heap_free(block);
            exit(0);
        }
        int status = 0;
        waitpid(child, &status, 0);
        expect_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT);
        std::string said = check::read_file(check::scratch("double"));
        expect_str(said.substr(0, said.find(';')),
                   "thermocline: the program frees a block that it does not hold");
    }
}

} // namespace
