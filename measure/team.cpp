#include "measure/team.h"
#include "measure/memory.h"
#include <algorithm>
#include <barrier>
#include <ctime>
#include <exception>
#include <mutex>
#include <numeric>
#include <sched.h>
#include <thread>
#include <utility>

namespace measure {
namespace {

double seconds(clockid_t clock) {
    timespec t;
    clock_gettime(clock, &t);
    return static_cast<double>(t.tv_sec) + 1e-9 * static_cast<double>(t.tv_nsec);
}

} // namespace

double wall_seconds() { return seconds(CLOCK_MONOTONIC); }
double thread_seconds() { return seconds(CLOCK_THREAD_CPUTIME_ID); }

void pin(unsigned cpu) {
    constexpr unsigned most = 8192;
    cpu_set_t *set = CPU_ALLOC(most);
    const size_t bytes = CPU_ALLOC_SIZE(most);
    CPU_ZERO_S(bytes, set);
    CPU_SET_S(cpu, bytes, set);
    const bool works = cpu < most && sched_setaffinity(0, bytes, set) == 0;
    CPU_FREE(set);
    if (!works)
        throw Refused("this process may not run on processor " + std::to_string(cpu));
}

Go together(const std::vector<unsigned> &cpus, const std::function<void(unsigned)> &work) {
    std::vector<double> begins(cpus.size()), ends(cpus.size()), own(cpus.size());
    std::barrier start(static_cast<std::ptrdiff_t>(cpus.size()));
    std::exception_ptr problem;
    std::mutex one;
    std::vector<std::jthread> threads;
    threads.reserve(cpus.size());
    for (unsigned i = 0; i < cpus.size(); i++)
        threads.emplace_back([&, i] {
            try {
                pin(cpus[i]);
            } catch (...) {
                const std::lock_guard guard(one);
                problem = std::current_exception();
            }
            start.arrive_and_wait();
            const double before = thread_seconds();
            begins[i] = wall_seconds();
            work(i);
            ends[i] = wall_seconds();
            own[i] = thread_seconds() - before;
        });
    threads.clear();
    if (problem)
        std::rethrow_exception(problem);
    const double seconds = *std::max_element(ends.begin(), ends.end()) -
                           *std::min_element(begins.begin(), begins.end());
    double share = 1;
    for (size_t i = 0; i < cpus.size(); i++)
        share = std::min(share, own[i] / (ends[i] - begins[i]));
    return {seconds, share};
}

unsigned quiet_ones(const std::vector<Go> &goes) {
    return static_cast<unsigned>(
        std::ranges::count_if(goes, [](const Go &go) { return go.on_cpu >= quiet_share; }));
}

bool enough(const std::vector<Go> &goes, unsigned wanted) {
    return goes.size() >= size_t(wanted) * most_goes_factor || quiet_ones(goes) >= wanted;
}

std::vector<size_t> least_disturbed(const std::vector<Go> &goes, unsigned wanted) {
    std::vector<size_t> order(goes.size());
    std::iota(order.begin(), order.end(), size_t(0));
    // Quiet ones are alike: the first of them.
    const auto rank = [&](size_t i) {
        return std::pair(-std::min(goes[i].on_cpu, quiet_share), i);
    };
    std::ranges::sort(order, {}, rank);
    order.resize(std::min<size_t>(order.size(), wanted));
    return order;
}

} // namespace measure
