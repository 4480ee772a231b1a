#include "measure/latency.h"
#include "measure/team.h"
#include <algorithm>
#include <atomic>
#include <ctime>
#include <pthread.h>
#include <thread>

namespace measure {
namespace {

constexpr size_t block = 4096;
constexpr size_t loads_a_go = 1 << 14;

struct alignas(128) Count {
    std::atomic<uint64_t> bytes = 0;
    std::atomic<clockid_t> clock = 0; // of its thread's processor time; 0: it has not begun
};

double seconds_of(clockid_t clock) {
    timespec t;
    clock_gettime(clock, &t);
    return static_cast<double>(t.tv_sec) + 1e-9 * static_cast<double>(t.tv_nsec);
}

void wait(unsigned additions) {
    for (unsigned i = 0; i < additions; i++)
        asm volatile("");
}

// Reads its part round and round until it is told to stop.
void load(const Kernels &kernels, double *part, size_t blocks, unsigned pause, Count &count,
          const std::atomic<bool> &stop) {
    constexpr size_t doubles = block / sizeof(double);
    clockid_t clock;
    pthread_getcpuclockid(pthread_self(), &clock);
    count.clock = clock;
    for (size_t i = 0; !stop.load(std::memory_order_relaxed); i = i + 1 == blocks ? 0 : i + 1) {
        kernels.pattern[read_only](part + i * doubles, nullptr, nullptr, doubles);
        count.bytes.store(count.bytes.load(std::memory_order_relaxed) + block,
                          std::memory_order_relaxed);
        wait(pause);
    }
}

// What the chasing thread sees at one moment.
struct Moment {
    double wall, own;
    std::vector<double> others; // their processor time
    uint64_t bytes;

    explicit Moment(const std::vector<Count> &counts)
        : wall(wall_seconds()), own(thread_seconds()), bytes(0) {
        for (const Count &each : counts) {
            others.push_back(seconds_of(each.clock));
            bytes += each.bytes.load(std::memory_order_relaxed);
        }
    }
};

Go between(const Moment &before, const Moment &after) {
    const double wall = after.wall - before.wall;
    double least = after.own - before.own;
    for (size_t i = 0; i < after.others.size(); i++)
        least = std::min(least, after.others[i] - before.others[i]);
    return {wall, least / wall};
}

void chase(char *block_of_lines, const std::vector<Count> &counts, unsigned wanted,
           Loaded &result) {
    auto *at = reinterpret_cast<void **>(block_of_lines);
    for (const Count &each : counts)
        while (each.clock.load() == 0)
            std::this_thread::yield();
    at = follow(at, loads_a_go);
    std::vector<Go> goes;
    std::vector<double> seconds, rates;
    while (!enough(goes, wanted)) {
        const Moment before(counts);
        at = follow(at, loads_a_go);
        const Moment after(counts);
        goes.push_back(between(before, after));
        seconds.push_back((after.own - before.own) / loads_a_go);
        const uint64_t bytes = after.bytes - before.bytes + loads_a_go * line_bytes;
        rates.push_back(static_cast<double>(bytes) / goes.back().seconds);
    }
    for (const size_t i : least_disturbed(goes, wanted)) {
        result.seconds.push_back(seconds[i]);
        result.bandwidth.push_back(rates[i]);
    }
    result.quiet = std::min(quiet_ones(goes), wanted);
}

} // namespace

Loaded loaded_latency(const Kernels &kernels, const Memory &chased, const Memory &read,
                      const std::vector<unsigned> &cpus, unsigned pause, unsigned goes) {
    const size_t loaders = cpus.size() - 1;
    const size_t blocks = loaders ? read.bytes() / block / loaders : 0;
    if (blocks == 0)
        throw Refused("a loaded latency wants two processors or more, and memory for them");
    std::vector<Count> counts(loaders);
    std::atomic<bool> stop = false;
    Loaded result{};
    thread_lines(chased.data(), chased.bytes(), Order::random);
    together(cpus, [&](unsigned thread) {
        if (thread == 0) {
            chase(chased.data(), counts, goes, result);
            stop = true;
        } else {
            char *part = read.data() + (thread - 1) * blocks * block;
            load(kernels, reinterpret_cast<double *>(part), blocks, pause, counts[thread - 1],
                 stop);
        }
    });
    return result;
}

} // namespace measure
