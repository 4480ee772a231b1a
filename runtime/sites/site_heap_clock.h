// A clock cheap enough to be read at every allocation, and birth stamps of 15 bits.
#pragma once
#include <cstdint>
#include <ctime>

// Ticks since some moment; all cores agree where the kernel itself trusts the counter.
inline uint64_t clock_ticks() {
#if defined(__x86_64__)
    return __builtin_ia32_rdtsc();
#elif defined(__aarch64__)
    uint64_t count;
    asm volatile("mrs %0, cntvct_el0" : "=r"(count));
    return count;
#else
    timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return uint64_t(now.tv_sec) * 1000000000 + now.tv_nsec;
#endif
}

// Coarse enough that the sum over 10^12 blocks fits in 64 bits.
constexpr unsigned tick_shift = 8;

// A birth stamp is a small floating-point number: 10 bits of mantissa, 5 of exponent.  Its error
// is at most 1/1024 of the time since the program's start.
constexpr uint16_t stamp_max = (1u << 15) - 1;

// A slot's link: live and its birth stamp, or free and the next free slot + 1.
constexpr uint16_t link_live = 1u << 15;

constexpr uint16_t stamp_of(uint64_t time) {
    if (time < 1024)
        return uint16_t(time);
    unsigned exponent = 63 - __builtin_clzll(time) - 10;
    return exponent > 30 ? stamp_max : uint16_t((exponent + 1) << 10 | (time >> exponent & 1023));
}

constexpr uint64_t time_of_stamp(uint16_t stamp) {
    unsigned exponent = stamp >> 10;
    return exponent == 0 ? stamp : uint64_t(1024 + (stamp & 1023)) << (exponent - 1);
}
