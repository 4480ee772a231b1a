// Random traffic on the profiling heap: threads allocate, reallocate and free at random, hand
// blocks to each other, end and begin.  After every step the block in hand has its owner, alignment
// and contents; at the end of every round, with all threads at rest, no line and no untagged page
// has two owners, no two blocks overlap, and the counts add up.
//
// SITE_HEAP_SEED and SITE_HEAP_STEPS (per thread and round) in the environment change the traffic.
#include "check.h"
#include "site_heap.h"
#include "site_heap_thread.h"
#include "site_stats.h"
#include <algorithm>
#include <map>
#include <mutex>
#include <random>
#include <thread>

namespace {

constexpr unsigned threads = 6, rounds = 8, sites = 100;

struct Block {
    unsigned char *data;
    size_t size;
    uint32_t site;
    unsigned char pattern;
};

using Random = std::mt19937_64;
size_t below(Random &random, size_t n) { return random() % n; }

unsigned long from_environment(const char *name, unsigned long otherwise) {
    const char *text = getenv(name);
    return text ? strtoul(text, nullptr, 10) : otherwise;
}

std::mutex mailbox_lock;
std::vector<Block> mailbox; // blocks that another thread is to free

// Mostly small; all classes, large blocks and empty ones come.
size_t random_size(Random &random) {
    switch (below(random, 20)) {
    case 0:
        return below(random, 200000);
    case 1:
        return below(random, 20000);
    case 2:
        return 0;
    default:
        return below(random, size_t(1) << below(random, 12));
    }
}

// Few sites get most blocks, so that some earn spans of their own and others never do.
uint32_t random_site(Random &random) {
    return 1 + uint32_t(below(random, 1 + below(random, sites)));
}

[[noreturn]] void stop(const char *what, const Block &block) {
    printf("%s: block %p, %zu bytes, site %u, owner %u\n", what, static_cast<void *>(block.data),
           block.size, block.site, tc_owner_of(reinterpret_cast<uintptr_t>(block.data)));
    fflush(stdout);
    abort();
}

void check_block(const Block &block) {
    uintptr_t from = reinterpret_cast<uintptr_t>(block.data);
    if (!site_heap_contains(block.data))
        stop("outside the heap", block);
    if (from % 16)
        stop("not aligned", block);
    for (uintptr_t at : {from, from + block.size / 2, from + (block.size ? block.size - 1 : 0)})
        if (tc_owner_of(at) != block.site)
            stop("wrong owner", block);
    if (site_heap_usable(block.data) < block.size)
        stop("too small", block);
    for (size_t i = 0; i < block.size; i += block.size / 64 + 1)
        if (block.data[i] != block.pattern)
            stop("contents changed", block);
    if (block.size && block.data[block.size - 1] != block.pattern)
        stop("contents changed", block);
}

void fill(Block &block, Random &random) {
    block.pattern = uint8_t(random());
    memset(block.data, block.pattern, block.size);
}

Block allocate(Random &random) {
    Block block{nullptr, random_size(random), random_site(random), 0};
    size_t align = below(random, 8) ? 16 : size_t(1) << below(random, 18);
    bool zero = below(random, 4) == 0;
    block.data =
        static_cast<unsigned char *>(site_heap_malloc(block.site, block.size, align, zero));
    if (!block.data)
        stop("out of memory", block);
    if (reinterpret_cast<uintptr_t>(block.data) % (align < 16 ? 16 : align))
        stop("not aligned as asked", block);
    for (size_t i = 0; zero && i < block.size; ++i)
        if (block.data[i])
            stop("calloc's memory is not zero", block);
    fill(block, random);
    return block;
}

void reallocate(Block &block, Random &random) {
    size_t size = random_size(random);
    uint32_t site = below(random, 2) ? block.site : random_site(random);
    auto *moved = static_cast<unsigned char *>(site_heap_realloc(site, block.data, size));
    if (!moved)
        stop("out of memory", block);
    size_t kept = std::min(size, block.size);
    block = {moved, kept, site, block.pattern};
    check_block(block);
    block.size = size;
    fill(block, random);
}

void run_thread(std::vector<Block> &mine, uint64_t seed, unsigned long steps) {
    Random random(seed);
    for (unsigned long step = 0; step < steps; ++step) {
        size_t choice = below(random, 100);
        // The number of blocks swings, so that spans fill up and empty.
        size_t wanted = (step / 2000) % 2 ? 200 : 2000;
        if (mine.empty() || (choice < 50 && mine.size() < wanted) || choice < 20) {
            mine.push_back(allocate(random));
            check_block(mine.back());
            continue;
        }
        Block &block = mine[below(random, mine.size())];
        check_block(block);
        if (choice < 60) {
            reallocate(block, random);
            check_block(block);
            continue;
        }
        if (choice < 80) {
            site_heap_free(block.data);
        } else {
            std::lock_guard<std::mutex> guard(mailbox_lock);
            mailbox.push_back(block);
            std::swap(mailbox.back(), mailbox[below(random, mailbox.size())]);
        }
        block = mine.back();
        mine.pop_back();
        if (choice >= 90) {
            Block given{};
            {
                std::lock_guard<std::mutex> guard(mailbox_lock);
                if (mailbox.empty())
                    continue;
                given = mailbox.back();
                mailbox.pop_back();
            }
            check_block(given);
            site_heap_free(given.data);
        }
    }
}

void check_all(std::vector<Block> blocks) {
    std::sort(blocks.begin(), blocks.end(),
              [](const Block &a, const Block &b) { return a.data < b.data; });
    std::map<uint32_t, std::pair<uint64_t, uint64_t>> live; // site: blocks, bytes
    size_t tagged = 0, own = 0;
    for (size_t i = 0; i < blocks.size(); ++i) {
        check_block(blocks[i]);
        if (blocks[i].size <= 1024) {
            uintptr_t offset = reinterpret_cast<uintptr_t>(blocks[i].data) - site_heap_range.base;
            ++(unit_owner(offset >> site_heap_unit_shift) & site_heap_tagged ? tagged : own);
        }
        ++live[blocks[i].site].first;
        live[blocks[i].site].second += blocks[i].size;
        if (i == 0)
            continue;
        const Block &before = blocks[i - 1], &block = blocks[i];
        uintptr_t last =
            reinterpret_cast<uintptr_t>(before.data) + std::max<size_t>(before.size, 1) - 1;
        uintptr_t first = reinterpret_cast<uintptr_t>(block.data);
        if (last >= first)
            stop("overlaps the block before it", block);
        if (before.site == block.site)
            continue;
        if (last / 64 == first / 64)
            stop("shares a line with another site", block);
        size_t unit = (first - site_heap_range.base) >> site_heap_unit_shift;
        if (last / 4096 == first / 4096 && !(unit_owner(unit) & site_heap_tagged))
            stop("shares an untagged page with another site", block);
    }
    if (!blocks.empty()) { // else this tested less than it says
        expect_ge(tagged, blocks.size() / 10);
        expect_ge(own, blocks.size() / 10);
    }
    uint64_t now = stats_now();
    for (uint32_t site = 1; site <= sites; ++site) {
        SiteStats stats = stats_read(site, now);
        expect_eq(stats.allocations - stats.frees, live[site].first);
        // Slack that does not fit its table counts as asked for: see store_slack.
        expect_ge(uint64_t(stats.live_bytes), live[site].second);
        expect_ge(stats.peak_live_bytes, stats.live_bytes);
    }
}

TEST(random_traffic) {
    expect_true(site_heap_reserve());
    earned_at_bytes = 1 << 10; // so that many do
    earned_at_waste = 256;
    uint64_t seed = from_environment("SITE_HEAP_SEED", 1);
    unsigned long steps = from_environment("SITE_HEAP_STEPS", 12000);
    std::vector<std::vector<Block>> blocks(threads);
    for (unsigned round = 0; round < rounds; ++round) {
        if (round == rounds / 2)
            block_clock_tick(); // from here on small blocks go the short way (site_heap_quick.h)
        std::vector<std::thread> running; // they end with every round, and leave their blocks
        for (unsigned t = 0; t < threads; ++t)
            running.emplace_back(run_thread, std::ref(blocks[(t + round) % threads]),
                                 seed * 1000 + round * threads + t, steps);
        for (std::thread &thread : running)
            thread.join();
        std::vector<Block> all = mailbox;
        for (const std::vector<Block> &some : blocks)
            all.insert(all.end(), some.begin(), some.end());
        check_all(all);
    }
    for (const std::vector<Block> &some : blocks)
        for (const Block &block : some)
            site_heap_free(block.data);
    for (const Block &block : mailbox)
        site_heap_free(block.data);
    check_all({});
    // What empty spans may hold: 32 spans of at most 8 units for this, the only thread left.
    expect_le(units_in_use(), size_t(32 * 8));
}

} // namespace
