// Bytes in a ring that the kernel fills, at positions that only grow.
#pragma once
#include <cstdint>
#include <cstring>

namespace tc::sample {

struct Ring {
    const uint8_t *data;
    uint64_t size; // a power of two

    uint8_t at(uint64_t position) const { return data[position & (size - 1)]; }

    // `bytes` is at most `size`.
    void copy(void *to, uint64_t position, uint64_t bytes) const {
        const uint64_t from = position & (size - 1);
        const uint64_t first = bytes < size - from ? bytes : size - from;
        memcpy(to, data + from, first);
        memcpy(static_cast<uint8_t *>(to) + first, data, bytes - first);
    }
};

} // namespace tc::sample
