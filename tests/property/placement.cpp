// No placement leaks into another: threads allocate, reallocate and free at random, hand
// blocks to each other, end and begin, and fork; after every step the block in hand, and
// now and then every block there is, must be in its site's range, hold what was written
// into it, and overlap no other.
//
//   placement_property [seed] [steps per round]
#include "annotated.h"
#include "check.h"
#include <cstdint>
#include <malloc.h>
#include <memory>
#include <mutex>
#include <random>
#include <thread>

namespace {

constexpr unsigned classes = 4; // three tiers, and what is split over them
constexpr size_t segment = size_t(32) << 20;
uintptr_t range_starts[classes];
unsigned range_shift = 40;

struct Block {
    unsigned char *data;
    size_t size;
    unsigned number; // of its class
    unsigned char pattern;
};

using Random = std::mt19937_64;

size_t below(Random &random, size_t n) { return random() % n; }

[[noreturn]] void stop(const char *what, const Block &block) {
    printf("%s: block %p of %zu bytes, class %u\n", what, static_cast<void *>(block.data),
           block.size, block.number);
    fflush(stdout);
    abort();
}

void check_class(const Block &block) {
    const uintptr_t at = reinterpret_cast<uintptr_t>(block.data);
    const uintptr_t start = range_starts[block.number];
    if (at < start || at + block.size > start + (uintptr_t(1) << range_shift))
        stop("in the wrong class", block);
}

// The first and last bytes, which a neighbour would overwrite.
void fill(const Block &block) {
    const size_t n = block.size < 64 ? block.size : 64;
    memset(block.data, block.pattern, n);
    memset(block.data + block.size - n, block.pattern, n);
}

void check_content(const Block &block, size_t size) {
    const size_t n = size < 64 ? size : 64;
    for (size_t i = 0; i < n; i++)
        if (block.data[i] != block.pattern)
            stop("overwritten", block);
}

size_t random_size(Random &random) {
    switch (below(random, 100)) {
    case 0:
        return below(random, 3 << 20);
    case 1:
        return below(random, 20) == 0 ? below(random, 40 << 20) : 0;
    case 2 ... 9:
        return below(random, 200000);
    case 10 ... 29:
        return below(random, 9000);
    default:
        return below(random, 600);
    }
}

// Blocks that anyone may take over, so that frees come from other threads.
struct Pool {
    std::mutex mutex;
    std::vector<Block> blocks;
};

class Worker {
  public:
    Worker(AnnotatedModule &module, Pool &pool, uint64_t seed)
        : module(module), pool(pool), random(seed) {}

    void run(size_t steps) {
        for (size_t i = 0; i < steps; i++) {
            step();
            if (i % 4096 == 0)
                for (const Block &block : own)
                    check_class(block);
        }
        // What is left lives on after this thread.
        std::lock_guard<std::mutex> guard(pool.mutex);
        pool.blocks.insert(pool.blocks.end(), own.begin(), own.end());
    }

  private:
    void step() {
        const size_t what = below(random, 100);
        if (what < 45 || own.empty())
            return put(allocate());
        if (what < 60)
            return put(reallocate(take()));
        if (what < 90 || own.size() > 3000)
            return release(take());
        std::unique_lock<std::mutex> lock(pool.mutex);
        if (what < 95) {
            Block block = take();
            pool.blocks.push_back(block);
        } else if (!pool.blocks.empty()) {
            const size_t i = below(random, pool.blocks.size());
            std::swap(pool.blocks[i], pool.blocks.back());
            Block block = pool.blocks.back();
            pool.blocks.pop_back();
            lock.unlock();
            release(block);
        }
    }

    Block allocate() {
        Block block{};
        block.size = random_size(random);
        block.number = static_cast<unsigned>(below(random, classes));
        block.pattern = static_cast<unsigned char>(random());
        block.data = static_cast<unsigned char *>(obtain(block));
        if (!block.data)
            stop("out of memory", block);
        check_class(block);
        if (malloc_usable_size(block.data) < block.size)
            stop("too small", block);
        fill(block);
        return block;
    }

    void *obtain(const Block &block) {
        tc_site *site = module[block.number];
        switch (below(random, 8)) {
        case 0: {
            unsigned char *p = static_cast<unsigned char *>(tc_calloc(1, block.size, site));
            for (size_t i = 0; p && i < block.size; i += 61)
                if (p[i])
                    stop("not cleared", block);
            return p;
        }
        case 1: {
            const size_t align = size_t(16) << below(random, below(random, 50) ? 9 : 23);
            void *p = tc_aligned_alloc(align, block.size, site);
            if (reinterpret_cast<uintptr_t>(p) % align)
                stop("not aligned", block);
            return p;
        }
        case 2:
            return tc_new(block.size, site);
        case 3: { // what a library allocates for the site
            tc_site *old = tc_carry(site);
            void *p = malloc(block.size);
            tc_carry(old);
            return p;
        }
        case 4: // not annotated: the default tier
            if (block.number == 1)
                return malloc(block.size);
            [[fallthrough]];
        default:
            return tc_malloc(block.size, site);
        }
    }

    Block reallocate(Block block) {
        check_content(block, block.size);
        const size_t old = block.size;
        const bool same = below(random, 2);
        block.size = same ? old - below(random, old / 2 + 1) : random_size(random) + 1;
        if (block.size == 0)
            block.size = 1;
        block.number = static_cast<unsigned>(below(random, classes));
        block.data =
            static_cast<unsigned char *>(tc_realloc(block.data, block.size, module[block.number]));
        if (!block.data)
            stop("out of memory", block);
        check_class(block);
        check_content(block, old < block.size ? old : block.size);
        fill(block);
        return block;
    }

    void release(const Block &block) {
        check_class(block);
        check_content(block, block.size);
        free(block.data);
    }

    Block take() {
        const size_t i = below(random, own.size());
        std::swap(own[i], own.back());
        Block block = own.back();
        own.pop_back();
        return block;
    }
    void put(const Block &block) { own.push_back(block); }

    AnnotatedModule &module;
    Pool &pool;
    Random random;
    std::vector<Block> own;
};

// `threads` workers, of which each is several threads one after the other.
void traffic(AnnotatedModule &module, Pool &pool, Random &random, size_t steps) {
    std::vector<std::thread> threads;
    for (unsigned t = 0; t < 4; t++) {
        const uint64_t seed = random();
        threads.emplace_back([&, seed] {
            for (unsigned part = 0; part < 5; part++)
                std::thread([&] { Worker(module, pool, seed + part).run(steps / 20); }).join();
        });
    }
    Worker(module, pool, random()).run(steps / 5); // the main thread takes over what others left
    for (std::thread &thread : threads)
        thread.join();
    // Keep the pool from growing for ever, and check all of it.
    std::vector<Block> &blocks = pool.blocks;
    for (const Block &block : blocks) {
        check_class(block);
        check_content(block, block.size);
    }
    while (blocks.size() > 3000) {
        std::swap(blocks[below(random, blocks.size())], blocks.back());
        free(blocks.back().data);
        blocks.pop_back();
    }
}

int run(uint64_t seed, size_t steps, unsigned rounds) {
    AnnotatedModule module("m", {"m!a@f.c:1", "m!b@f.c:2", "m!c@f.c:3", "m!d@f.c:4"});
    for (unsigned number = 0; number < classes; number++) { // a range begins with its first segment
        void *p = tc_malloc(100, module[number]);
        range_starts[number] = reinterpret_cast<uintptr_t>(p) & ~(segment - 1);
        free(p);
    }
    Random random(seed);
    Pool pool;
    for (unsigned round = 0; round < rounds; round++) {
        traffic(module, pool, random, steps);
        fflush(nullptr);
        const pid_t child = fork();
        if (child == 0) { // goes on with the blocks that it inherited
            traffic(module, pool, random, steps / 8);
            _exit(0);
        }
        int status = 0;
        waitpid(child, &status, 0);
        if (status != 0) {
            printf("seed %llu: the child of round %u failed\n",
                   static_cast<unsigned long long>(seed), round);
            return 1;
        }
    }
    printf("seed %llu: %zu steps\n", static_cast<unsigned long long>(seed),
           rounds * (steps + steps / 8) / 5 * 6);
    return 0;
}

constexpr char unlimited[] = "heap guided\ntier 0 nodes - capacity 0\n"
                             "tier 1 nodes - capacity 0\ntier 2 nodes - capacity 0\n"
                             "default-tier 1\nsite 0 m!a@f.c:1\nsite 1 m!b@f.c:2\n"
                             "site 2 m!c@f.c:3\nclass 3 shares 2,1,1\nsite 3 m!d@f.c:4\n";
constexpr char limited[] = "heap guided\ntier 0 nodes - capacity 30000000\n"
                           "tier 1 nodes - capacity 30000000\ntier 2 nodes - capacity 0\n"
                           "default-tier 1\nsite 0 m!a@f.c:1\nsite 1 m!b@f.c:2\n"
                           "site 2 m!c@f.c:3\nclass 3 shares 2,1,1\nsite 3 m!d@f.c:4\n";

} // namespace

int main(int argc, char **argv) {
    if (argc == 4 && strcmp(argv[1], "--run") == 0)
        return run(strtoull(argv[2], nullptr, 0), strtoull(argv[3], nullptr, 0), 4);
    const uint64_t seed = argc > 1 ? strtoull(argv[1], nullptr, 0) : 20181;
    const std::string steps = argc > 2 ? argv[2] : "150000";
    int failed = 0;
    for (const char *config : {unlimited, limited}) {
        const std::string directory = check::make_directory();
        failed |= check::run_self(directory, config, {"--run", std::to_string(seed), steps});
        failed |= !check::read_file(directory + "/stderr").empty();
    }
    printf(failed ? "FAILED\n" : "ok\n");
    return failed != 0;
}
