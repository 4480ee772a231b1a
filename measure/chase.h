// Loads each of which waits for the one before: latency.
#pragma once
#include <cstddef>

namespace measure {

inline constexpr size_t line_bytes = 64;

enum class Order {
    sequential, // line after line: what a prefetcher foresees shows
    paged,      // pages one after the other, their lines at random: no prefetcher, few TLB misses
    random,     // all lines at random
};

// Threads one cycle through all lines.
void thread_lines(char *block, size_t bytes, Order order);

// Follows it so far from a line on; the line it comes to.
void **follow(void **from, size_t loads);

} // namespace measure
