// Numbers that look random and are the same in each run.
#pragma once
#include <cstdint>

namespace thermocline {

// splitmix64's finisher: a bijection of 64 bits.
constexpr uint64_t mix(uint64_t value) {
    value += 0x9e3779b97f4a7c15;
    value = (value ^ value >> 30) * 0xbf58476d1ce4e5b9;
    value = (value ^ value >> 27) * 0x94d049bb133111eb;
    return value ^ value >> 31;
}

// A number below `limit` that a key stands for.
constexpr uint64_t mix_below(uint64_t key, uint64_t limit) {
    return uint64_t((unsigned __int128)(mix(key)) * limit >> 64);
}

} // namespace thermocline
