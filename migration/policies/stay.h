// What is seen of 2 MiB between moving in and moving out, from faults alone.
#pragma once
#include "migration/policies/policy.h"

namespace thermocline::migration {

constexpr uint32_t block_in_region(uint64_t address) { return uint32_t(address >> 16 & 31); }

// Blocks of 64 KiB that were touched one after the other, up or down.
struct Run {
    uint8_t last, length;
    int8_t step;

    void follow(uint32_t block) {
        const int step_now = int(block) - int(last);
        if (length > 0 && step_now == 0)
            return;
        const bool goes_on =
            length == 1 ? step_now == 1 || step_now == -1 : length > 1 && step_now == step;
        length = goes_on ? uint8_t(length + 1) : 1;
        step = goes_on ? int8_t(step_now) : 0;
        last = uint8_t(block);
    }
    // Blocks, if it goes on to the region's end.
    uint32_t reach() const { return length + (step > 0 ? 31 - last : step < 0 ? last : 0u); }
};

struct Stay {
    uint64_t touched[8]; // pages that faulted
    uint32_t whole;      // blocks that came whole
    bool all;            // the region did
    bool over;           // some of what came has left

    void touch(uint64_t address) {
        const uint32_t page = page_in_region(address);
        touched[page / 64] |= uint64_t(1) << (page & 63);
    }
    bool came_whole(uint64_t address) const {
        return all || (whole >> block_in_region(address) & 1);
    }
    bool came(uint64_t address) const {
        const uint32_t page = page_in_region(address);
        return came_whole(address) || (touched[page / 64] >> (page & 63) & 1);
    }
    double blocks() const { // that were touched
        double count = 0;
        for (uint32_t block = 0; block < 32; block++)
            count += pages_of_block(block) != 0;
        return count;
    }
    // Of blocks that came page by page, the share that did; 0: there are none.
    double used_of_blocks() const {
        double blocks = 0, pages = 0;
        for (uint32_t block = 0; block < 32 && !all; block++)
            if (!(whole >> block & 1) && pages_of_block(block) != 0) {
                blocks++;
                pages += __builtin_popcountll(pages_of_block(block));
            }
        return blocks > 0 ? pages / (16 * blocks) : 0;
    }

  private:
    static constexpr uint32_t page_in_region(uint64_t address) {
        return uint32_t(address >> 12 & 511);
    }
    uint64_t pages_of_block(uint32_t block) const {
        return touched[block / 4] >> 16 * (block & 3) & 0xffff;
    }
};

} // namespace thermocline::migration
