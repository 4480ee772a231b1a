// Programs' addresses are kept apart, and ranges of them keep their bytes.
#include "check.h"
#include "simulator/placement/frames.h"
#include "simulator/system/address_space.h"
#include <map>
#include <random>

using namespace thermocline;

TEST(equal_addresses_of_programs_differ_and_a_programs_own_stay_apart) {
    AddressBlocks blocks;
    AddressSpace spaces[] = {{blocks, 0}, {blocks, 12345 * page_bytes}, {blocks, UINT64_MAX << 12}};
    std::mt19937_64 random(1);
    std::map<uint64_t, std::pair<int, uint64_t>> seen;
    std::vector<uint64_t> addresses;
    for (int i = 0; i < 3000; i++)
        addresses.push_back((random() % 40 << 30 | (random() & 0x3fffffff)) + (random() % 2 << 46));
    for (int round = 0; round < 2; round++) // the second time they are the same
        for (uint64_t address : addresses)
            for (int program = 0; program < 3; program++) {
                const uint64_t mapped = spaces[program].map(address);
                expect_eq(mapped % page_bytes, address % page_bytes);
                expect_lt(mapped, uint64_t(1) << 47);
                expect_eq(blocks.original(mapped), address);
                const auto found = seen.try_emplace(mapped, program, address).first;
                expect_eq(found->second.first, program);
                expect_eq(found->second.second, address);
            }
}

TEST(a_range_is_its_bytes) {
    AddressBlocks blocks;
    AddressSpace other(blocks, 0), space(blocks, 1000 * page_bytes);
    other.map(0);
    const uint64_t begin = (uint64_t(3) << 30) - 5000 * page_bytes, bytes = uint64_t(3) << 30;
    std::map<uint64_t, uint64_t> pieces;
    uint64_t sum = 0;
    space.map(begin, bytes, [&](uint64_t address, uint64_t part) {
        expect_true(pieces.emplace(address, part).second);
        sum += part;
    });
    expect_eq(sum, bytes);
    expect_lt(pieces.size(), 10u);
    for (uint64_t offset = 0; offset < bytes; offset += 997 * page_bytes) {
        const uint64_t mapped = space.map(begin + offset);
        auto piece = pieces.upper_bound(mapped);
        piece--;
        expect_lt(mapped - piece->first, piece->second);
    }
}

TEST(addresses_all_over_are_refused) {
    AddressBlocks blocks;
    AddressSpace space(blocks, 0);
    bool refused = false;
    try {
        for (uint64_t block = 0; block <= AddressBlocks::most; block++)
            space.map(block << 30);
    } catch (const ConfigError &) {
        refused = true;
    }
    expect_true(refused);
}
