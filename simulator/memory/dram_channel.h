// One DRAM channel with faithful timing: the policy of docs/memory-devices.md, word for word, but
// from event to event and not from cycle to cycle.
//
// Each bank has at most one command that it would issue next (its candidate), for each of the two
// queues.  Candidates are looked for again only in banks that changed, and choosing a command
// looks only at candidates: the earliest cycle in which one is allowed is the next event.
#pragma once
#include "simulator/memory/config.h"
#include "simulator/memory/dram_layout.h"
#include "simulator/memory/nvm_module.h"
#include "simulator/memory/request.h"
#include <algorithm>
#include <cstdint>
#include <optional>
#include <vector>

namespace thermocline {

enum class CommandKind : uint8_t { read, write, precharge, activate, precharge_all, refresh };

struct Command {
    Cycle cycle;
    uint32_t channel;
    CommandKind kind;
    uint8_t rank, bank; // the bank within the rank; 0 where all are meant
    uint32_t row;       // 0 where none is named
    bool operator==(const Command &) const = default;
};

struct DramCounts {
    uint64_t reads = 0, writes = 0, activates = 0, refreshes = 0;
    uint64_t hits = 0, misses = 0, conflicts = 0;
    uint64_t answered = 0, merged = 0; // reads answered by, writes merged in the write queue
    uint64_t open_cycles = 0;          // with an open row, summed over ranks
};

// A burst's data has arrived.
struct BurstDone {
    uint32_t ticket; // the caller's
    Cycle cycle;
};

class DramChannel {
  public:
    // With a module of NVM on the same bus, if there is a configuration of one.
    DramChannel(const DramConfig &config, const std::optional<NvmConfig> &nvm, uint32_t index);

    bool room(bool write, uint32_t bursts) const { return queue_[write].free.size() >= bursts; }

    // A burst enters.  Everything before `cycle` happens first.
    void enter(Cycle cycle, DramPlace place, bool write, uint32_t ticket,
               std::vector<BurstDone> &done);
    // The same for the module: a read's data comes later, with the ticket.
    void enter_nvm(Cycle cycle, uint64_t local, bool write, uint32_t ticket,
                   std::vector<BurstDone> &done);
    bool room_nvm(bool write, uint32_t bursts) const { return nvm_->room(write, bursts); }
    // All that happens before the cycle.
    void run(Cycle before, std::vector<BurstDone> &done);
    // The cycle of the next command; `never` if no request waits.
    Cycle next();

    DramCounts counts(Cycle until) const; // up to a cycle that has been run
    NvmCounts nvm_counts() const { return nvm_ ? nvm_->counts() : NvmCounts{}; }
    void record(std::vector<Command> *commands) { commands_ = commands; }

  private:
    static constexpr uint32_t none = UINT32_MAX;
    static constexpr uint32_t max_banks = DramConfig::max_banks;
    enum Kind : uint8_t { rd, wr, pre, act, kinds };
    enum class Event : uint8_t { command, nvm_read, nvm_write, refresh_due, refresh };

    struct Entry {
        uint64_t sequence;
        uint32_t row, ticket;
        uint32_t next, previous; // of the same bank and queue, by sequence
        uint32_t column;
        uint8_t bank;
        bool precharged, activated; // for this entry
    };
    struct Queue {
        std::vector<Entry> entries;
        std::vector<uint32_t> free;
        uint32_t size = 0;
        uint32_t first[max_banks], last[max_banks];
        uint64_t waiting = 0; // banks with a candidate
        uint64_t changed = 0; // banks whose candidate must be looked for again
        uint32_t candidate[max_banks];
        Kind kind[max_banks];
        Cycle ready[max_banks];    // what the candidate's bank allows
        uint64_t rank[max_banks];  // of candidates that are allowed in the same cycle: the least
        uint16_t limit[max_banks]; // where its group's limit is
    };
    struct Rank {
        Cycle due;
        bool refreshing = false;
        uint32_t open = 0; // banks
        Cycle open_since = 0;
        Cycle activates[4] = {}; // the last four, + faw
        uint32_t oldest_activate = 0;
    };
    struct Next {
        Cycle cycle;
        Event event;
        uint32_t index; // bank, or rank
        uint64_t rank;  // of the candidate
    };

    uint32_t rank_of(uint32_t bank) const { return bank / banks_per_rank_; }
    bool writing() const { return draining_ || queue_[0].size == 0; }
    void find_candidate(bool write, uint32_t bank);
    void find_next();
    void keep_next(bool write, uint32_t bank);
    void next_transfer(bool write);
    void next_refresh();
    Cycle allowed(const Queue &queue, uint32_t bank) const {
        const Cycle bus = std::max(now_, bus_free_[queue.kind[bank] >= pre]);
        return std::max(std::max(queue.ready[bank], limit_[queue.limit[bank]]), bus);
    }
    void perform(std::vector<BurstDone> &done);
    void column_command(uint32_t bank, std::vector<BurstDone> &done);
    void transfer(bool write, std::vector<BurstDone> &done);
    void raise_column_limits(uint32_t group, bool write);
    void activate(uint32_t bank, Entry &entry);
    void precharge(uint32_t bank);
    void refresh(uint32_t rank);
    void close(uint32_t bank);
    void take_bus(bool row) {
        bus_free_[row] = now_ + 1;
        if (!config_.separate_row_bus)
            bus_free_[!row] = now_ + 1;
    }
    void log(CommandKind kind, uint32_t bank, uint32_t row);
    void bank_changed(uint32_t bank) {
        queue_[0].changed |= uint64_t(1) << bank;
        queue_[1].changed |= uint64_t(1) << bank;
    }

    const DramConfig config_;
    const uint32_t index_;
    const uint32_t banks_per_rank_;
    uint32_t banks_, groups_; // of the channel; NVM is one more group

    Queue queue_[2];
    bool draining_ = false;
    uint64_t sequence_ = 0;
    Cycle now_ = 0;
    bool next_known_ = false;
    Next next_{};

    // A command of a kind is allowed from the latest of these on: what its bank says, and what
    // its bank group, with the limits of rank and channel folded in, and the command bus.
    Cycle bank_ok_[kinds][max_banks] = {};
    static constexpr uint32_t stride = max_banks + 1;
    Cycle limit_[kinds * stride] = {}; // [kind * stride + group]
    Cycle bus_free_[2] = {};           // for column commands, for row commands
    uint8_t group_of_[max_banks];
    uint8_t rank_of_group_[max_banks + 1]; // that of the NVM is no other's
    bool is_open_[max_banks] = {};
    uint32_t open_row_[max_banks] = {};
    uint32_t served_[max_banks] = {}; // column commands since the last ACT
    std::vector<Rank> ranks_;
    std::optional<NvmModule> nvm_;
    uint64_t blocked_ = 0; // banks of ranks that are being refreshed
    Cycle first_due_ = never;
    // Gaps after RD and WR: [bank group, rank, other rank].
    uint32_t read_to_read_[3], read_to_write_[3], write_to_read_[3], write_to_write_[3];

    DramCounts counts_;
    std::vector<Command> *commands_ = nullptr;
};

} // namespace thermocline
