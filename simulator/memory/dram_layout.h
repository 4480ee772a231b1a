// Where a channel's bytes are: docs/memory-devices.md, "Requests, bursts, addresses".
#pragma once
#include "simulator/memory/config.h"
#include <algorithm>
#include <bit>
#include <cstdint>

namespace thermocline {

struct DramPlace {
    uint32_t row;
    uint32_t column;
    uint8_t bank; // within the channel: rank * banks_per_rank + bank
};

class DramLayout {
  public:
    explicit DramLayout(const DramConfig &config) : banks_per_rank_(config.banks_per_rank()) {
        const uint32_t columns = config.row_bytes / config.burst_bytes;
        burst_ = std::countr_zero(config.burst_bytes);
        line_ = std::countr_zero(std::clamp(64 / config.burst_bytes, 1u, columns));
        group_ = std::countr_zero(config.bank_groups);
        column_ = std::countr_zero(columns) - line_;
        bank_ = std::countr_zero(config.banks_per_group);
        rank_ = std::countr_zero(config.ranks);
    }

    DramPlace locate(uint64_t local) const {
        local >>= burst_;
        auto take = [&](uint32_t bits) {
            const uint32_t field = uint32_t(local) & ((1u << bits) - 1);
            local >>= bits;
            return field;
        };
        const uint32_t in_line = take(line_), group = take(group_);
        const uint32_t column = take(column_) << line_ | in_line;
        const uint32_t in_group = take(bank_), rank = take(rank_);
        const uint32_t row = uint32_t(local);
        const uint32_t bank = (group | in_group << group_) ^ (row & (banks_per_rank_ - 1));
        return {row, column, uint8_t(rank * banks_per_rank_ + bank)};
    }

  private:
    uint32_t banks_per_rank_;
    uint32_t burst_, line_, group_, column_, bank_, rank_; // bits
};

} // namespace thermocline
