// Programs that share a machine have addresses of their own, which may be equal.  Here each block
// of 1 GiB that a program refers to becomes a block of the simulated machine's, in the order in
// which they are first referred to.  Within its blocks a program's pages are turned by a number of
// its own, so that copies of one program don't meet in the same sets of shared caches.
#pragma once
#include "simulator/cache.h"
#include "simulator/memory/config.h"
#include <algorithm>
#include <unordered_map>
#include <vector>

namespace thermocline {

// The blocks that all programs have, and where each comes from.
struct AddressBlocks {
    static constexpr unsigned bits = 30;
    static constexpr uint64_t most = uint64_t(1) << (CacheLine::line_bits + 6 - bits);
    static constexpr uint64_t mask = (uint64_t(1) << bits) - 1;
    struct Origin {
        uint64_t block, turn;
    };
    std::vector<Origin> origins;

    // The program's own address, of one that was made of it.
    uint64_t original(uint64_t address) const {
        const Origin &origin = origins[address >> bits];
        return origin.block << bits | ((address - origin.turn) & mask);
    }
};

class AddressSpace {
  public:
    // `turn`: bytes, whole pages.
    AddressSpace(AddressBlocks &all, uint64_t turn) : all_(all), turn_(turn & mask) {}

    uint64_t map(uint64_t address) {
        const uint64_t block = address >> AddressBlocks::bits;
        if (block != last_) {
            const auto [found, fresh] = blocks_.try_emplace(block, all_.origins.size());
            if (fresh)
                all_.origins.push_back({block, turn_});
            if (all_.origins.size() > AddressBlocks::most)
                throw ConfigError("the programs' addresses are spread too far to be kept apart");
            last_ = block;
            base_ = found->second << AddressBlocks::bits;
        }
        return base_ | ((address + turn_) & mask);
    }

    // Calls piece(address, bytes) for the parts of a range, which need not lie together here.
    template <class Piece> void map(uint64_t address, uint64_t bytes, Piece piece) {
        while (bytes > 0) {
            const uint64_t in_block = mask + 1 - (address & mask);
            const uint64_t to_turn = mask + 1 - ((address + turn_) & mask);
            const uint64_t part = std::min({bytes, in_block, to_turn});
            piece(map(address), part);
            address += part;
            bytes -= part;
        }
    }

  private:
    static constexpr uint64_t mask = AddressBlocks::mask;
    AddressBlocks &all_;
    const uint64_t turn_;
    std::unordered_map<uint64_t, uint64_t> blocks_;
    uint64_t last_ = UINT64_MAX, base_ = 0;
};

} // namespace thermocline
