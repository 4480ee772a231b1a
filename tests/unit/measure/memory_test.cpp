// Where measured memory comes from, what is refused, and which goes are kept.
#include "check.h"
#include "measure/bandwidth.h"
#include "measure/latency.h"
#include "measure/memory.h"
#include "measure/team.h"
#include <algorithm>
#include <dirent.h>
#include <sched.h>

using namespace measure;

namespace {

constexpr size_t mib = size_t(1) << 20;

unsigned some_cpu() {
    cpu_set_t set;
    sched_getaffinity(0, sizeof set, &set);
    for (unsigned cpu = 0; cpu < CPU_SETSIZE; cpu++)
        if (CPU_ISSET(cpu, &set))
            return cpu;
    return 0;
}

template <typename Work> std::string refusal(Work work) {
    try {
        work();
        return "";
    } catch (const Refused &refused) {
        return refused.what();
    }
}

} // namespace

TEST(memory_is_whole_huge_pages_and_can_be_written) {
    const Memory memory({}, 3 * mib);
    expect_eq(memory.bytes(), 4 * mib);
    expect_eq(reinterpret_cast<uintptr_t>(memory.data()) % huge_page, uintptr_t(0));
    memset(memory.data(), 7, memory.bytes());
    expect_eq(memory.data()[4 * mib - 1], char(7));
}

TEST(small_pages_stay_small) {
    const Memory memory({{}, Pages::small, ""}, 4 * mib);
    expect_eq(memory.huge_share(), 0.0);
}

TEST(a_file_leaves_nothing_behind) {
    const std::string directory = check::scratch("");
    {
        const Memory memory({{}, Pages::small, directory}, 2 * mib);
        memory.data()[0] = 1;
    }
    int entries = 0;
    DIR *open = opendir(directory.c_str());
    while (const dirent *each = readdir(open))
        entries += each->d_name[0] != '.' && strcmp(each->d_name, "stderr") != 0 &&
                   strcmp(each->d_name, "config") != 0;
    closedir(open);
    expect_eq(entries, 0);
}

TEST(what_is_not_there_is_refused) {
    expect_true(refusal([] { Memory({{{1000, 1}}, Pages::huge, ""}, mib); }).size() > 0);
    expect_true(refusal([] { Memory({{{5000, 1}}, Pages::huge, ""}, mib); }).size() > 0);
    expect_true(refusal([] { Memory({{{0, 0}}, Pages::huge, ""}, mib); }).size() > 0);
    expect_true(refusal([] { Memory({{}, Pages::huge, "/nowhere/at/all"}, mib); }).size() > 0);
    expect_true(refusal([] { together({8000}, [](unsigned) {}); }).size() > 0);
}

TEST(goes_that_lost_their_processor_are_left_out) {
    const std::vector<Go> goes{{1, 0.5}, {2, 0.99}, {3, 1.0}, {4, 0.9}, {5, 0.98}};
    expect_eq(quiet_ones(goes), 3u);
    expect_true(enough(goes, 3));
    expect_true(!enough(goes, 4));
    expect_true(least_disturbed(goes, 3) == std::vector<size_t>({1, 2, 4}));
    expect_true(least_disturbed(goes, 4) == std::vector<size_t>({1, 2, 4, 3}));
    expect_true(enough(std::vector<Go>(most_goes_factor, {1, 0}), 1)); // it ends
}

TEST(bandwidth_gives_a_value_a_go) {
    const Memory memory({}, 4 * mib);
    const Kernels &kernels = *find_kernels("auto");
    for (unsigned pattern = 0; pattern < patterns; pattern++) {
        const Traffic found =
            bandwidth(kernels, static_cast<Pattern>(pattern), memory, {some_cpu()}, 3);
        expect_eq(found.values.size(), size_t(3));
        expect_le(found.quiet, 3u);
        expect_lt(0.0, *std::min_element(found.values.begin(), found.values.end()));
    }
    expect_eq(accumulation(kernels, 3, memory, {some_cpu()}, 3).values.size(), size_t(3));
}

TEST(a_kernel_that_does_nothing_is_found_out) {
    Kernels idle = *find_kernels("auto");
    idle.pattern[nt_write] = [](double *, const double *, const double *, size_t) { return 0.0; };
    idle.accumulate[1] = [](double *, const double *, const double *, size_t) { return 0.0; };
    const Memory memory({}, 2 * mib);
    int found = 0;
    try {
        bandwidth(idle, nt_write, memory, {some_cpu()}, 1);
    } catch (const WrongResult &) {
        found++;
    }
    try {
        accumulation(idle, 1, memory, {some_cpu()}, 1);
    } catch (const WrongResult &) {
        found++;
    }
    expect_eq(found, 2);
}

TEST(latency_gives_a_value_a_go) {
    const Memory memory({}, 2 * mib);
    const std::vector<double> found = latency(memory, 64 * 1024, Order::random, some_cpu(), 4);
    expect_eq(found.size(), size_t(4));
    expect_lt(0.0, *std::min_element(found.begin(), found.end()));
    expect_true(refusal([&] { latency(memory, 1, Order::random, some_cpu(), 1); }).size() > 0);
    const Kernels &kernels = *find_kernels("auto");
    expect_true(
        refusal([&] { loaded_latency(kernels, memory, memory, {some_cpu()}, 0, 1); }).size() > 0);
}
