// Threads on processors of their own that begin together.
#pragma once
#include <cstddef>
#include <functional>
#include <vector>

namespace measure {

double wall_seconds();
double thread_seconds(); // of this thread's processor time

// Puts this thread on a processor; Refused if it may not run there.
void pin(unsigned cpu);

struct Go {
    double seconds; // from the first thread that begins to the last that ends
    double on_cpu;  // share of that in which the least lucky thread had its processor
};

// Calls work(thread) on each of the processors at once.
Go together(const std::vector<unsigned> &cpus, const std::function<void(unsigned)> &work);

// What else runs on the host takes processors away: goes are made until as many as wanted had
// theirs nearly all the time, or eight times as many are made.
inline constexpr double quiet_share = 0.98;
inline constexpr unsigned most_goes_factor = 30;
bool enough(const std::vector<Go> &goes, unsigned wanted);
unsigned quiet_ones(const std::vector<Go> &goes);

// The numbers of the `wanted` least disturbed goes.
std::vector<size_t> least_disturbed(const std::vector<Go> &goes, unsigned wanted);

} // namespace measure
