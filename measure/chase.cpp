#include "measure/chase.h"
#include <algorithm>
#include <cstdint>
#include <numeric>
#include <random>
#include <span>
#include <vector>

namespace measure {
namespace {

constexpr size_t lines_of_page = 4096 / line_bytes;
constexpr size_t unrolled = 16;

// The order in which lines are visited, as numbers of lines.
std::vector<uint32_t> visits(size_t lines, Order order) {
    std::vector<uint32_t> all(lines);
    std::iota(all.begin(), all.end(), 0u);
    std::mt19937_64 draw(1);
    if (order == Order::random)
        std::shuffle(all.begin(), all.end(), draw);
    for (size_t at = 0; order == Order::paged && at < lines; at += lines_of_page) {
        const size_t count = std::min(lines_of_page, lines - at);
        std::ranges::shuffle(std::span(all).subspan(at, count), draw);
    }
    return all;
}

} // namespace

void thread_lines(char *block, size_t bytes, Order order) {
    const std::vector<uint32_t> all = visits(bytes / line_bytes, order);
    for (size_t i = 0; i < all.size(); i++) {
        const uint32_t next = all[i + 1 == all.size() ? 0 : i + 1];
        *reinterpret_cast<void **>(block + line_bytes * all[i]) = block + line_bytes * next;
    }
}

void **follow(void **from, size_t loads) {
    for (size_t i = 0; i < loads / unrolled; i++)
#pragma clang loop unroll(full)
        for (size_t k = 0; k < unrolled; k++)
            from = static_cast<void **>(*from);
    for (size_t i = 0; i < loads % unrolled; i++)
        from = static_cast<void **>(*from);
    asm volatile("" : "+r"(from));
    return from;
}

} // namespace measure
