#include "simulator/placement/frames.h"
#include "simulator/placement/random.h"
#include <bit>

namespace thermocline {

namespace {

// A permutation of 0 .. count-1 by a seed: a Feistel network over the next even number of bits,
// walked on until it lands inside.
uint64_t permuted(uint64_t number, uint64_t count, uint64_t seed) {
    const unsigned half = unsigned(std::bit_width(count - 1) + 1) / 2;
    const uint64_t mask = (uint64_t(1) << half) - 1;
    do {
        uint64_t left = number >> half, right = number & mask;
        for (uint64_t round = 0; round < 4; round++) {
            const uint64_t next = left ^ (mix(seed + round * 0x100000001b3 + right) & mask);
            left = right;
            right = next;
        }
        number = left << half | right;
    } while (number >= count);
    return number;
}

} // namespace

Frames::Frames(const FramesConfig &config)
    : sockets_(config.sockets), run_(config.contiguous_pages), seed_(config.seed) {
    for (uint64_t bytes : config.node_bytes)
        nodes_.push_back({bytes / page_bytes});
}

uint64_t Frames::free_pages(uint32_t tier) const {
    uint64_t sum = 0;
    for (uint32_t socket = 0; socket < sockets_; socket++)
        sum += nodes_[tier * sockets_ + socket].free();
    return sum;
}

uint64_t Frames::pages(uint32_t tier) const {
    uint64_t sum = 0;
    for (uint32_t socket = 0; socket < sockets_; socket++)
        sum += nodes_[tier * sockets_ + socket].pages;
    return sum;
}

bool Frames::take(uint32_t tier, uint32_t socket, Place &place) {
    for (uint32_t i = 0; i < sockets_; i++) {
        const uint32_t number = tier * sockets_ + (socket + i) % sockets_;
        Node &node = nodes_[number];
        if (node.free() == 0)
            continue;
        if (node.back.empty()) {
            place = {number, frame(number, node.fresh++) * page_bytes};
        } else {
            place = {number, node.back.back()};
            node.back.pop_back();
        }
        return true;
    }
    return false;
}

void Frames::give(const Place &place) { nodes_[place.node].back.push_back(place.address); }

uint64_t Frames::frame(uint32_t node, uint64_t number) const {
    const uint64_t runs = nodes_[node].pages / run_;
    if (number >= runs * run_)
        return number; // the last, short run stays where it is
    return permuted(number / run_, runs, seed_ ^ mix(node)) * run_ + number % run_;
}

} // namespace thermocline
