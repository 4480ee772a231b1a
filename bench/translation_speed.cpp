// Looks up addresses in the simulator's TLBs, without cores, caches or memories:
// translation_speed.py compiles and runs this.
//
//   translation_speed TLB MODE PATTERN REFERENCES
//
// PATTERN: random (8 bytes anywhere in 16 GiB, which no structure reaches), stream (8 bytes after
// 8 bytes of the same), mix (nine of ten in 16 MiB).  One line of JSON on stdout.
#include "simulator/translation/translation.h"
#include <cstdio>
#include <cstdlib>
#include <random>
#include <sys/resource.h>

using namespace thermocline;

static double user_seconds() {
    rusage usage{};
    getrusage(RUSAGE_SELF, &usage);
    return double(usage.ru_utime.tv_sec) + double(usage.ru_utime.tv_usec) / 1e6;
}

struct Counted final : References {
    uint64_t count = 0;
    uint32_t refer(uint64_t, Via, Ps) override {
        count++;
        return 3;
    }
    uint32_t memory_level() const override { return 3; }
    void pass(Ps) override {}
};

int main(int argc, char **argv) {
    if (argc != 5) {
        fprintf(stderr, "usage: translation_speed TLB MODE PATTERN REFERENCES\n");
        return 2;
    }
    const std::string pattern = argv[3];
    const size_t count = strtoull(argv[4], nullptr, 10);
    TranslationConfig config; // sizes: as thermocline/machine/translation.py assumes
    config.on = true;
    config.nested = std::string(argv[2]) == "nested";
    config.first = {BufferConfig{64, 4}, {32, 4}, {4, 4}};
    config.second = {1536, 12};
    config.second_huge = {16, 4};
    config.walk_caches = {BufferConfig{}, {32, 4}, {4, 4}, {2, 2}};
    config.nested_tlb = {64, 4};
    config.name = argv[1];
    config.buffer.bytes = 16 << 20;
    std::mt19937_64 rng(1);
    std::vector<uint64_t> addresses(count); // made before the clock starts
    for (size_t i = 0; i < count; i++) {
        const uint64_t span =
            pattern == "random" || rng() % 10 == 0 ? uint64_t(16) << 30 : 16 << 20;
        addresses[i] = (pattern == "stream" ? i * 8 : rng() % span) + (uint64_t(1) << 40);
    }
    Translation translation(config, 1);
    Counted references;
    uint64_t sum = 0;
    const double begin = user_seconds();
    for (uint64_t address : addresses)
        sum += translation.look_up(0, 0, address, references).frame;
    const double seconds = user_seconds() - begin;
    printf(
        "{\"seconds\": %.6f, \"misses\": %llu, \"references\": %llu, \"check\": %llu}\n", seconds,
        static_cast<unsigned long long>(translation.second(0).lookups - translation.second(0).hits),
        static_cast<unsigned long long>(references.count), static_cast<unsigned long long>(sum));
}
