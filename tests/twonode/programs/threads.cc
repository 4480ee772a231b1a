// Threads of a C++ program: blocks freed by another thread, threads that end while their
// blocks live on, and new threads that take over the memory.  Every form of operator new,
// and containers, whose allocation calls are inside library headers.
#include "placement.h"

#include <atomic>
#include <map>
#include <memory>
#include <mutex>
#include <new>
#include <string>
#include <thread>
#include <vector>

namespace {

struct Block {
    char *at;
    std::size_t bytes;
    int tier;
};

OWN_SITE char *fast_new(std::size_t bytes) { return new char[bytes]; }
OWN_SITE char *slow_new(std::size_t bytes) { return new char[bytes]; }

struct alignas(128) Wide {
    char bytes[1280];
};
Wide *fast_wide() { return new Wide; }
Wide *slow_wide() { return new (std::nothrow) Wide; }

std::vector<int> fast_vector(int length) {
    std::vector<int> values;
    for (int i = 0; i < length; ++i)
        values.push_back(i);
    return values;
}
std::vector<int> slow_vector(int length) { return std::vector<int>(length, 1); }
std::unique_ptr<std::string> fast_string(std::size_t length) {
    return std::make_unique<std::string>(length, 'f');
}
void slow_insert(std::map<int, double> &map, int key) { map.emplace(key, 0.5 * key); }

// Blocks that a thread leaves to others.
std::mutex mutex;
std::vector<Block> left;

void leave_blocks(unsigned seed) {
    static const std::size_t sizes[] = {24, 200, 3000, 30000};
    for (int i = 0; i < 100; ++i) {
        seed = seed * 1664525U + 1013904223U;
        const std::size_t bytes = sizes[(seed >> 20) % 4];
        const int tier = (seed >> 28) % 2;
        Block block{tier ? slow_new(bytes) : fast_new(bytes), bytes, tier};
        memset(block.at, 1, bytes);
        std::lock_guard lock(mutex);
        left.push_back(block);
    }
}

void check_and_free(std::size_t keep) {
    for (;;) {
        Block block;
        {
            std::lock_guard lock(mutex);
            if (left.size() <= keep)
                return;
            block = left.back();
            left.pop_back();
        }
        EXPECT_TIER(block.at, block.bytes, block.tier);
        delete[] block.at;
    }
}

void check_containers() {
    auto fast = fast_vector(50000);
    auto slow = slow_vector(50000);
    EXPECT_TIER(fast.data(), fast.size() * sizeof(int), 0);
    EXPECT_TIER(slow.data(), slow.size() * sizeof(int), 1);
    auto string = fast_string(10000);
    EXPECT_TIER(string.get(), sizeof *string, 0);
    EXPECT_TIER(string->data(), string->size(), 0);
    std::map<int, double> map;
    for (int key = 0; key < 500; ++key)
        slow_insert(map, key);
    for (const auto &[key, value] : map)
        EXPECT_TIER(&value, sizeof value, 1);
    std::unique_ptr<Wide> first(fast_wide()), second(slow_wide());
    memset(first.get(), 1, sizeof(Wide));
    memset(second.get(), 1, sizeof(Wide));
    EXPECT_TIER(first.get(), sizeof(Wide), 0);
    EXPECT_TIER(second.get(), sizeof(Wide), 1);
}

} // namespace

int main() {
    check_containers();
    for (unsigned round = 0; round < 6; ++round) {
        std::vector<std::thread> threads;
        for (unsigned number = 0; number < 4; ++number)
            threads.emplace_back([=] {
                leave_blocks(round * 8 + number);
                // Frees what other threads made, while they go on; the rest outlives us.
                check_and_free(150);
            });
        for (auto &thread : threads)
            thread.join();
        std::thread(check_containers).join();
    }
    check_and_free(0);
    return finish();
}
