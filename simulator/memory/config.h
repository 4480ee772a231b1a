// What a memory is made of, as read from JSON and checked.  docs/memory-devices.md says what each
// number means; field names are the JSON's.
#pragma once
#include "simulator/time.h"
#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <stdexcept>
#include <string>

namespace thermocline {

// One line: what is wrong and where.
struct ConfigError : std::runtime_error {
    using std::runtime_error::runtime_error;
};

struct DramTiming { // in cycles
    uint32_t cl, cwl, rcd, rp, ras, rc;
    uint32_t ccd_s, ccd_l, rrd_s, rrd_l, faw;
    uint32_t wr, wtr_s, wtr_l, rtp;
    uint32_t bus_turn, rank_switch;
    uint32_t rfc, refi;
};

struct QueueConfig {
    uint32_t reads, writes;           // entries
    uint32_t drain_start, drain_stop; // entries of the write queue
    uint32_t row_hit_cap;
};

struct DramEnergy { // of a rank; static power of a channel
    double activate_pj, read_pj, write_pj, refresh_pj;
    double open_mw, closed_mw, static_mw;
};

struct DramConfig {
    static constexpr uint32_t max_banks = 64; // of a channel: a set of banks is one word
    static constexpr uint32_t max_queue = 256;

    uint32_t clock_ps;
    uint32_t burst_bytes, burst_cycles;
    uint32_t ranks, bank_groups, banks_per_group;
    uint32_t row_bytes;
    bool separate_row_bus;
    QueueConfig queues;
    DramTiming timing;
    DramEnergy energy;

    uint32_t banks_per_rank() const { return bank_groups * banks_per_group; }
    uint32_t banks() const { return ranks * banks_per_rank(); }
};

struct LinkConfig {
    uint64_t request_ps, response_ps;               // latency of each direction
    uint64_t request_bandwidth, response_bandwidth; // bytes a second
    uint32_t header_bytes;                          // of each message, beside data
    uint32_t entries;                               // requests that wait for the memory behind it
    double pj_per_byte, static_mw;
};

// A module with media of large blocks, on each of the DRAM's channels.
struct NvmConfig {
    uint64_t interleave_bytes;
    uint32_t block_bytes;               // what the media read and write
    uint32_t reads, writes;             // entries of the module's queues
    uint32_t read_buffer, write_buffer; // blocks
    uint64_t buffer_ps;                 // arrival of a read to its transfer, if a buffer answers
    uint64_t media_read_ps;             // what the media add to that
    uint64_t read_gap_ps, write_gap_ps; // how long a block's read, write keep the media busy
    double read_pj, write_pj;           // of a block
    double transfer_pj;                 // of a burst on the channel
    double static_mw;                   // of a module
};

enum class Fidelity { faithful, screening };

struct MemoryConfig {
    std::string name;
    uint32_t channels;
    uint64_t interleave_bytes;
    Fidelity fidelity;
    DramConfig dram;
    std::optional<NvmConfig> nvm;
    uint64_t nvm_base; // addresses from here on are the NVM's
    std::optional<LinkConfig> link;
};

MemoryConfig parse_memory(const nlohmann::json &json); // throws ConfigError

} // namespace thermocline
