// Many sites, many threads: what malloc and free cost in time and memory.  See site_heap.py.
//
//   site_heap SITES THREADS KIB_PER_THREAD zipf|flat ROUNDS
//
// Every site has one block size, from 16 bytes to 2 KiB.  A thread first fills its KiB, the sites
// weighted by rank (zipf) or alike (flat), then replaces each of its blocks ROUNDS times in random
// order.  Prints nanoseconds per replacement (processor time of all threads) and resident KiB.
#include "../runtime/abi.h"
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <pthread.h>
#include <random>
#include <string>
#include <thread>
#include <unistd.h>
#include <vector>

namespace {

// What the compiler's plugin would have put into a program with so many sites.
struct Sites {
    explicit Sites(unsigned count) : sites(count) {
        table = std::string("thermocline-sites 1 module=bench context=0") + '\0';
        for (unsigned i = 0; i < count; ++i) {
            sites[i].key = uint32_t(table.size());
            table += "bench!f" + std::to_string(i) + "@a.c:" + std::to_string(i + 1) + '\0';
            sites[i].routine = uint32_t(table.size());
            table += std::string("malloc") + '\0' + "1" + '\0';
        }
        table += '\0';
        module.version = TC_ABI_VERSION;
        module.site_count = count;
        module.sites = sites.data();
        module.table = table.data();
        module.table_bytes = table.size();
        tc_module_load(&module);
    }
    ~Sites() { tc_module_unload(&module); }
    tc_site *operator[](unsigned i) { return &sites[i]; }

    std::vector<tc_site> sites;
    std::string table;
    tc_module module{};
};

struct Block {
    void *data;
    unsigned site;
};

size_t size_of(unsigned site) {
    std::mt19937 random(site);
    return size_t(16 * std::exp2(std::uniform_real_distribution<double>(0, 7)(random)));
}

double processor_seconds() {
    timespec used;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &used);
    return double(used.tv_sec) + double(used.tv_nsec) * 1e-9;
}

struct Result {
    double seconds = 0;
    size_t replaced = 0;
};

void work(Sites &module, const std::vector<size_t> &sizes,
          std::discrete_distribution<unsigned> pick, unsigned seed, size_t bytes, unsigned rounds,
          pthread_barrier_t &barrier, Result &result) {
    std::mt19937 random(seed);
    std::vector<Block> blocks;
    for (size_t used = 0; used < bytes;) {
        unsigned site = pick(random);
        void *data = tc_malloc(sizes[site], module[site]);
        memset(data, 1, sizes[site]);
        blocks.push_back({data, site});
        used += sizes[site];
    }
    pthread_barrier_wait(&barrier);
    double start = processor_seconds();
    for (size_t i = 0; i < rounds * blocks.size(); ++i) {
        Block &block = blocks[random() % blocks.size()];
        free(block.data);
        block.data = tc_malloc(sizes[block.site], module[block.site]);
        memset(block.data, 2, sizes[block.site]);
    }
    result = {processor_seconds() - start, rounds * blocks.size()};
    pthread_barrier_wait(&barrier); // all hold their blocks
    pthread_barrier_wait(&barrier); // until memory was read
}

} // namespace

int main(int argc, char **argv) {
    if (argc != 6)
        return 2;
    unsigned sites = unsigned(atoi(argv[1])), threads = unsigned(atoi(argv[2]));
    size_t bytes = size_t(atol(argv[3])) << 10;
    bool zipf = !strcmp(argv[4], "zipf");
    unsigned rounds = unsigned(atoi(argv[5]));
    Sites module(sites);
    std::vector<size_t> sizes;
    std::vector<double> weights;
    for (unsigned site = 0; site < sites; ++site) {
        sizes.push_back(size_of(site));
        weights.push_back(zipf ? 1.0 / (site + 1) : 1.0);
    }
    std::discrete_distribution<unsigned> pick(weights.begin(), weights.end());
    pthread_barrier_t barrier;
    pthread_barrier_init(&barrier, nullptr, threads + 1);
    std::vector<Result> results(threads);
    std::vector<std::thread> running;
    for (unsigned t = 0; t < threads; ++t)
        running.emplace_back(
            [&, t] { work(module, sizes, pick, t + 1, bytes, rounds, barrier, results[t]); });
    pthread_barrier_wait(&barrier);
    pthread_barrier_wait(&barrier);
    long pages = 0;
    if (FILE *file = fopen("/proc/self/statm", "r")) {
        if (fscanf(file, "%*d %ld", &pages) != 1)
            return 1;
        fclose(file);
    }
    pthread_barrier_wait(&barrier);
    Result all;
    for (unsigned t = 0; t < threads; ++t) {
        running[t].join();
        all.seconds += results[t].seconds;
        all.replaced += results[t].replaced;
    }
    printf("%.1f %ld\n", all.seconds * 1e9 / double(all.replaced),
           pages * (sysconf(_SC_PAGESIZE) >> 10));
    return 0;
}
