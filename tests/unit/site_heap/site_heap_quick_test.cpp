// The short way to small blocks (site_heap_quick.h) against the long one: the same traffic in two
// processes, of which one has a block clock and so takes the short way, ends in the same places
// with the same counts.
#include "check.h"
#include "site_heap.h"
#include "site_heap_thread.h"
#include <random>
#include <sys/mman.h>
#include <thread>

namespace {

constexpr uint32_t sites = 12;

struct Outcome {
    uint64_t places; // a hash of the addresses, in the order of the traffic
    uint64_t quick;  // of the blocks taken and freed
    SiteStats stats[sites];
};

struct Traffic {
    explicit Traffic(unsigned seed, Outcome *outcome) : random(seed), outcome(outcome) {}

    void step() {
        size_t choice = random() % 100;
        if (blocks.empty() || choice < (growing ? 60 : 40))
            take();
        else if (choice < 90)
            give();
        else
            resize();
        growing = random() % 3000 ? growing : !growing;
    }
    void give_from_another_thread() {
        std::thread([this] {
            for (size_t i = 0; i < blocks.size() / 2; ++i)
                give();
        }).join();
    }

  private:
    size_t size() {
        size_t most = size_t(1) << random() % 12;
        return random() % 50 ? random() % (most + most / 2) : random() % 100000;
    }
    uint32_t site() { return uint32_t(random() % (1 + random() % sites)); } // 0: unknown
    void note(const void *block) {
        uint64_t place = reinterpret_cast<uintptr_t>(block) - site_heap_range.base;
        outcome->places = (outcome->places ^ place) * 1099511628211u;
    }
    void take() {
        uint32_t owner = site();
        size_t bytes = size();
        bool zero = random() % 4 == 0;
        auto *block = static_cast<char *>(site_heap_try_malloc(owner, bytes, zero));
        outcome->quick += block != nullptr;
        if (!block)
            block = static_cast<char *>(site_heap_malloc(owner, bytes, 16, zero));
        expect_eq(tc_owner_of(reinterpret_cast<uintptr_t>(block)), owner);
        expect_ge(site_heap_usable(block), bytes);
        for (size_t i = 0; zero && i < bytes; ++i)
            if (block[i])
                check::fail(__FILE__, __LINE__, "calloc's memory is not zero");
        memset(block, 1, bytes);
        note(block);
        blocks.push_back(block);
    }
    void give() {
        size_t at = random() % blocks.size();
        if (site_heap_try_free(blocks[at]))
            ++outcome->quick;
        else
            site_heap_free(blocks[at]);
        blocks[at] = blocks.back();
        blocks.pop_back();
    }
    void resize() {
        void *&block = blocks[random() % blocks.size()];
        block = site_heap_realloc(site(), block, size());
        note(block);
    }

    std::mt19937 random;
    Outcome *outcome;
    std::vector<void *> blocks;
    bool growing = true;
};

// In a process of its own, whose heap is new.
Outcome outcome_of(bool quick, unsigned seed, bool threads, bool early) {
    auto *shared = static_cast<Outcome *>(
        mmap(nullptr, sizeof(Outcome), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0));
    pid_t child = fork();
    if (child == 0) {
        if (!site_heap_reserve())
            _exit(1);
        if (early) // sites that earn, and give back, spans of their own
            earned_at_bytes = earned_at_waste = 512;
        if (quick)
            block_clock_tick();
        Traffic traffic(seed, shared);
        for (int round = 0; round < 5; ++round) {
            for (int i = 0; i < 20000; ++i)
                traffic.step();
            if (threads)
                traffic.give_from_another_thread();
        }
        for (uint32_t site = 0; site < sites; ++site)
            shared->stats[site] = stats_read(site, stats_now());
        _exit(0);
    }
    int status = 1;
    waitpid(child, &status, 0);
    expect_eq(status, 0);
    Outcome outcome = *shared;
    munmap(shared, sizeof(Outcome));
    return outcome;
}

TEST(the_short_way_does_what_the_long_one_does) {
    for (unsigned seed = 0; seed < 8; ++seed) {
        Outcome is = outcome_of(true, seed, seed & 1, seed & 2);
        Outcome wanted = outcome_of(false, seed, seed & 1, seed & 2);
        expect_ge(is.quick, uint64_t(50000)); // most of it
        expect_eq(wanted.quick, uint64_t(0));
        expect_eq(is.places, wanted.places);
        for (uint32_t site = 0; site < sites; ++site) {
            expect_eq(is.stats[site].allocations, wanted.stats[site].allocations);
            expect_eq(is.stats[site].frees, wanted.stats[site].frees);
            expect_eq(is.stats[site].allocated_bytes, wanted.stats[site].allocated_bytes);
            expect_eq(is.stats[site].live_bytes, wanted.stats[site].live_bytes);
            expect_eq(is.stats[site].peak_live_bytes, wanted.stats[site].peak_live_bytes);
            expect_eq(is.stats[site].tagged_bytes, wanted.stats[site].tagged_bytes);
        }
    }
}

TEST(classes_have_one_tagged_class) {
    for (size_t size = 0; size <= largest_small_slot; ++size)
        expect_eq(tagged_class_for(size, 0), tagged_class_for(slot_bytes(class_of(size)), 0));
}

TEST(a_double_free_is_left_to_the_long_way) {
    expect_true(site_heap_reserve());
    block_clock_tick();
    void *blocks[4];
    for (void *&block : blocks)
        block = site_heap_malloc(1, 40, 16, false);
    expect_true(site_heap_try_free(blocks[1]));
    expect_true(!site_heap_try_free(blocks[1]));
    expect_true(!site_heap_try_free(static_cast<char *>(blocks[2]) + 16)); // inside a block
    expect_true(site_heap_try_free(blocks[2]));
}

TEST(other_threads_and_children_take_the_long_way) {
    expect_true(site_heap_reserve());
    block_clock_tick();
    site_heap_malloc(1, 40, 16, false);
    void *block = site_heap_try_malloc(1, 40, false), *other = site_heap_try_malloc(1, 40, false);
    expect_true(block && other);
    std::thread([&] {
        expect_true(!site_heap_try_free(block));
        site_heap_free(block);
        expect_true(!site_heap_try_free(other)); // now that this thread has a heap, too
    }).join();
    int status = 1;
    pid_t child = fork();
    if (child == 0) {
        // Nobody sets the clock in here, and the first use has to be noticed.
        bool right = !site_heap_try_free(other) && !site_heap_try_malloc(1, 40, false);
        site_heap_free(other);
        _exit(right && stats_read(1, stats_now()).frees == 1 ? 0 : 1);
    }
    waitpid(child, &status, 0);
    expect_eq(status, 0);
    expect_true(site_heap_try_free(other));
    SiteStats stats = stats_read(1, stats_now());
    expect_eq(stats.allocations, uint64_t(3));
    expect_eq(stats.frees, uint64_t(2));
    expect_eq(stats.live_bytes, int64_t(40));
}

// The clock stands still between ticks: no lifetime is off by more, and none is below zero.
TEST(lifetimes_by_the_clock_of_small_blocks) {
    expect_true(site_heap_reserve());
    block_clock_tick();
    void *lasting = site_heap_malloc(1, 50, 16, false), *brief = site_heap_malloc(2, 50, 16, false);
    site_heap_free(brief);
    usleep(20000);
    block_clock_tick();
    site_heap_free(lasting);
    SiteStats stats = stats_read(1, stats_now());
    expect_ge(stats.mean_lifetime_seconds, 0.0199);
    expect_ge(stats.longest_dead_seconds, 0.0198);
    expect_eq(stats_read(2, stats_now()).mean_lifetime_seconds, 0.0);
}

} // namespace
