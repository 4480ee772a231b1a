// Pages as translation sees them, of three sizes: 4 KiB, 2 MiB and 1 GiB.
#pragma once
#include <cstdint>

namespace thermocline {

constexpr unsigned page_sizes = 3;
constexpr unsigned page_bits(unsigned size) { return 12 + 9 * size; }

// A page of an address space: of a process, or under nested translation of a virtual machine's
// process (the thesis' VM and process identifiers together).
struct Page {
    uint64_t number = 0; // address >> page_bits(size)
    uint32_t space = 0;  // 65,535 at most
    unsigned size = 0;

    static Page of(uint64_t address, uint32_t space, unsigned size) {
        return {address >> page_bits(size), space, size};
    }
    uint64_t address() const { return number << page_bits(size); }
    // One word for all of it, never 0; addresses have up to 57 bits.
    uint64_t key() const {
        return uint64_t(1) << 63 | uint64_t(space) << 47 | uint64_t(size) << 45 | number;
    }
};

// Where a recorded program had pages of 2 MiB.
class RecordedPages {
  public:
    virtual ~RecordedPages() = default;
    // The same for all addresses of an aligned region of 2 MiB.
    virtual bool large(uint64_t address, uint32_t space) const = 0;
};

// How large the page of an address is: as recorded, or a policy, by aligned regions that are drawn
// by the seed.  Shares are of the address space.
struct PageSizes {
    double large = 0, huge = 0; // shares of 2 MiB regions, and of 1 GiB regions
    uint64_t seed = 0;
    const RecordedPages *recorded = nullptr; // in place of `large`

    unsigned of(uint64_t address, uint32_t space) const {
        if (huge > 0 && drawn(address >> page_bits(2), space, 2) < huge)
            return 2;
        if (recorded)
            return recorded->large(address, space) ? 1 : 0;
        return large > 0 && drawn(address >> page_bits(1), space, 1) < large ? 1 : 0;
    }

  private:
    double drawn(uint64_t region, uint32_t space, unsigned size) const {
        uint64_t x = region + seed * 0x9e3779b97f4a7c15 + (uint64_t(space) << 48) + size;
        x = (x ^ x >> 31) * 0xbf58476d1ce4e5b9; // splitmix64
        x = (x ^ x >> 27) * 0x94d049bb133111eb;
        return double((x ^ x >> 31) >> 11) * 0x1p-53;
    }
};

} // namespace thermocline
