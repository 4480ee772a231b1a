#include "measure/bandwidth.h"
#include "measure/team.h"
#include <algorithm>
#include <string>

namespace measure {
namespace {

constexpr double go_seconds = 4e-3; // shorter ones measure how threads start
constexpr unsigned most_rounds = 1u << 20;

// A thread's arrays: its own part of the memory.
struct Part {
    double *array[3];
    size_t doubles;
};

std::vector<Part> divide(const Memory &memory, unsigned arrays, size_t threads) {
    const size_t each = memory.bytes() / sizeof(double) / threads / arrays / block_doubles;
    if (each == 0)
        throw Refused("too little memory for so many threads");
    std::vector<Part> parts(threads);
    auto *at = reinterpret_cast<double *>(memory.data());
    for (Part &part : parts) {
        part.doubles = each * block_doubles;
        for (unsigned i = 0; i < 3; i++)
            part.array[i] = at + part.doubles * (i < arrays ? i : 0);
        at += part.doubles * arrays;
    }
    return parts;
}

void fill(const std::vector<Part> &parts, unsigned arrays) {
    for (const Part &part : parts)
        std::fill_n(part.array[0], part.doubles * arrays, 1.0);
}

bool all_are(const double *array, size_t doubles, double value) {
    return std::all_of(array, array + doubles, [&](double each) { return each == value; });
}

// What a pattern leaves in its first array after so many rounds over ones.
double left_by(Pattern pattern, unsigned rounds, double written) {
    switch (pattern) {
    case read1_write1:
    case read2_write1:
        return 1.0 + rounds;
    case read3_write1:
        return 1.0 + 2.0 * rounds;
    case nt_write:
        return written;
    default:
        return 1.0;
    }
}

// A go is one chunk of every thread's part, or, where all of it takes too little time, several
// rounds through it.
struct Plan {
    unsigned chunks = 1;
    unsigned rounds = 1;
};

// work(thread, first double, doubles)
using Work = std::function<void(unsigned, size_t, size_t)>;

// Warms page tables and caches, and finds out how long things take.
Plan plan(const std::vector<unsigned> &cpus, const std::vector<Part> &parts, const Work &work) {
    const auto pass = [&](unsigned rounds) {
        return together(cpus,
                        [&](unsigned thread) {
                            for (unsigned i = 0; i < rounds; i++)
                                work(thread, 0, parts[thread].doubles);
                        })
            .seconds;
    };
    pass(1);
    const double once = std::min(pass(1), pass(1));
    Plan found;
    if (once >= 2 * go_seconds)
        found.chunks = static_cast<unsigned>(once / go_seconds);
    while (once < go_seconds && found.rounds < most_rounds && pass(found.rounds) < go_seconds)
        found.rounds *= 2;
    return found;
}

struct Timed {
    std::vector<Go> goes;
    unsigned passes; // through all of the memory
    size_t chunk;    // doubles of a thread in one go, without rounds
};

// Whole passes, until there are goes enough.
Timed time_goes(const std::vector<unsigned> &cpus, const std::vector<Part> &parts, const Plan &plan,
                unsigned wanted, const Work &work) {
    Timed timed{{}, 0, parts[0].doubles / plan.chunks / block_doubles * block_doubles};
    for (unsigned number = 0; number % plan.chunks != 0 || !enough(timed.goes, wanted); number++) {
        timed.goes.push_back(together(cpus, [&](unsigned thread) {
            for (unsigned i = 0; i < plan.rounds; i++)
                work(thread, number % plan.chunks * timed.chunk, timed.chunk);
        }));
        timed.passes += number % plan.chunks == 0 ? plan.rounds : 0;
    }
    return timed;
}

Traffic rates(const Timed &timed, const Plan &plan, double bytes_a_double, size_t threads,
              unsigned wanted) {
    Traffic traffic{{}, std::min(quiet_ones(timed.goes), wanted)};
    const double bytes = bytes_a_double * static_cast<double>(timed.chunk * threads * plan.rounds);
    for (const size_t i : least_disturbed(timed.goes, wanted))
        traffic.values.push_back(bytes / timed.goes[i].seconds);
    return traffic;
}

} // namespace

Traffic bandwidth(const Kernels &kernels, Pattern pattern, const Memory &memory,
                  const std::vector<unsigned> &cpus, unsigned goes) {
    const PatternTraits &traits = pattern_traits[pattern];
    const std::vector<Part> parts = divide(memory, traits.arrays, cpus.size());
    alignas(64) static constexpr double written[8] = {3, 3, 3, 3, 3, 3, 3, 3};
    std::vector<char> right(cpus.size(), 1);
    const Work work = [&](unsigned thread, size_t first, size_t doubles) {
        const Part &part = parts[thread];
        const double *second = pattern == nt_write ? written : part.array[1] + first;
        const double sum =
            kernels.pattern[pattern](part.array[0] + first, second, part.array[2] + first, doubles);
        right[thread] &= pattern != read_only || sum == static_cast<double>(doubles);
    };
    fill(parts, traits.arrays);
    const Plan planned = plan(cpus, parts, work);
    fill(parts, traits.arrays);
    const Timed timed = time_goes(cpus, parts, planned, goes, work);
    const size_t reached = timed.chunk * planned.chunks;
    for (size_t thread = 0; thread < parts.size(); thread++)
        if (!right[thread] ||
            !all_are(parts[thread].array[0], reached, left_by(pattern, timed.passes, written[0])))
            throw WrongResult(std::string("kernel ") + traits.name + " left wrong data");
    const double bytes = sizeof(double) * (traits.reads + traits.writes);
    return rates(timed, planned, bytes, cpus.size(), goes);
}

Traffic accumulation(const Kernels &kernels, unsigned step, const Memory &memory,
                     const std::vector<unsigned> &cpus, unsigned goes) {
    const std::vector<Part> parts = divide(memory, 1, cpus.size());
    std::vector<char> right(cpus.size(), 1);
    const Work work = [&](unsigned thread, size_t first, size_t doubles) {
        const double sum =
            kernels.accumulate[step](parts[thread].array[0] + first, nullptr, nullptr, doubles);
        right[thread] &= sum == expected_sum(kernels, step, doubles);
    };
    fill(parts, 1);
    const Plan planned = plan(cpus, parts, work);
    const Timed timed = time_goes(cpus, parts, planned, goes, work);
    if (std::ranges::find(right, 0) != right.end())
        throw WrongResult("the accumulation gives a wrong sum");
    return rates(timed, planned, sizeof(double), cpus.size(), goes);
}

} // namespace measure
