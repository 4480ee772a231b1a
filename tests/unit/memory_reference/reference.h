// A DRAM memory cycle by cycle: slow and obvious, written from docs/memory-devices.md alone and
// sharing nothing with simulator/memory but the types of its interface.  Every command is checked
// against the whole history of commands by the page's table, row by row.
#pragma once
#include "simulator/memory/config.h"
#include "simulator/memory/dram_channel.h" // Command
#include "simulator/memory/request.h"
#include <deque>
#include <map>
#include <vector>

namespace reference {

using thermocline::Command;
using thermocline::CommandKind;
using thermocline::Completion;
using thermocline::Cycle;
using thermocline::DramConfig;
using thermocline::MemoryConfig;
using thermocline::Ps;
using thermocline::Request;

struct Place {
    uint32_t rank, bank; // the bank within the rank
    uint64_t row, column;
    bool operator==(const Place &) const = default;
};

struct Waiting {
    uint64_t sequence;
    Place place;
    uint64_t token;
};

struct Choice {
    CommandKind kind;
    uint32_t rank, bank;
    uint64_t row, sequence;
};

class Channel {
  public:
    Channel(const DramConfig &config, uint32_t index) : c(config), index(index) {
        open.resize(c.ranks, std::vector<int64_t>(c.banks_per_rank(), -1));
        served.resize(c.ranks, std::vector<uint32_t>(c.banks_per_rank(), 0));
        for (uint32_t r = 0; r < c.ranks; r++)
            due.push_back(uint64_t(c.timing.refi) * (r + 1) / c.ranks);
    }

    bool room(bool write, size_t bursts) const {
        return write ? writes.size() + bursts <= c.queues.writes
                     : reads.size() + bursts <= c.queues.reads;
    }

    // In cycle n, before anything is chosen in it.  A read's data, if it is there without a RD.
    void enter(Cycle n, uint64_t local, bool write, uint64_t token,
               std::map<uint64_t, Cycle> &end) {
        Place place = locate(local);
        for (const Waiting &w : writes)
            if (w.place == place) {
                if (!write)
                    later(end, token, n + 1);
                return;
            }
        (write ? writes : reads).push_back({sequence++, place, token});
    }

    void tick(Cycle n, std::vector<Command> &log, std::map<uint64_t, Cycle> &end) {
        drain();
        bool column_taken = false, row_taken = false;
        for (uint32_t r = 0; r < c.ranks; r++)
            if (refreshing(r, n)) {
                bool any_open = false;
                for (int64_t row : open[r])
                    any_open |= row >= 0;
                Choice choice{any_open ? CommandKind::precharge_all : CommandKind::refresh, r, 0, 0,
                              0};
                if (!allowed(choice, n))
                    continue;
                issue(choice, n, log, end);
                row_taken = true;
                if (!c.separate_row_bus)
                    return;
                break;
            }
        for (bool column : {true, false}) {
            if (column ? column_taken : row_taken)
                continue;
            const Choice *best = nullptr;
            std::vector<Choice> all = candidates(n);
            for (const Choice &choice : all) {
                bool is_column =
                    choice.kind == CommandKind::read || choice.kind == CommandKind::write;
                if (is_column == column && allowed(choice, n) &&
                    (!best || choice.sequence < best->sequence))
                    best = &choice;
            }
            if (best) {
                issue(*best, n, log, end);
                (column ? column_taken : row_taken) = true;
                if (!c.separate_row_bus)
                    return;
            }
        }
    }

    bool idle() const { return reads.empty() && writes.empty(); }

  private:
    Place locate(uint64_t local) const {
        uint64_t columns = c.row_bytes / c.burst_bytes;
        uint64_t rest = local / c.burst_bytes;
        auto take = [&rest](uint64_t count) {
            uint64_t part = rest % count;
            rest /= count;
            return part;
        };
        uint64_t lines = std::min<uint64_t>(columns, c.burst_bytes < 64 ? 64 / c.burst_bytes : 1);
        uint64_t low = take(lines), g = take(c.bank_groups);
        uint64_t column = take(columns / lines) * lines + low, k = take(c.banks_per_group);
        uint64_t rank = take(c.ranks), row = rest;
        uint64_t bank = (g + c.bank_groups * k) ^ (row % (c.bank_groups * c.banks_per_group));
        return {uint32_t(rank), uint32_t(bank), row, column};
    }

    static void later(std::map<uint64_t, Cycle> &end, uint64_t token, Cycle cycle) {
        Cycle &at = end[token];
        at = std::max(at, cycle);
    }

    void drain() {
        if (writes.size() >= c.queues.drain_start)
            draining = true;
        else if (writes.size() <= c.queues.drain_stop)
            draining = false;
    }

    bool refreshing(uint32_t rank, Cycle n) const { return c.timing.refi && n >= due[rank]; }

    std::vector<Choice> candidates(Cycle n) const {
        bool write = draining || reads.empty();
        const std::deque<Waiting> &active = write ? writes : reads;
        std::vector<Choice> found;
        for (uint32_t r = 0; r < c.ranks; r++)
            for (uint32_t b = 0; b < c.banks_per_rank() && !refreshing(r, n); b++) {
                const Waiting *first = nullptr, *hit = nullptr;
                for (const Waiting &w : active) { // in order of sequence
                    if (w.place.rank != r || w.place.bank != b)
                        continue;
                    if (!first)
                        first = &w;
                    if (!hit && open[r][b] == int64_t(w.place.row))
                        hit = &w;
                }
                if (!first)
                    continue;
                if (hit && (hit == first || served[r][b] < c.queues.row_hit_cap))
                    found.push_back({write ? CommandKind::write : CommandKind::read, r, b,
                                     hit->place.row, hit->sequence});
                else if (open[r][b] >= 0)
                    found.push_back({CommandKind::precharge, r, b, 0, first->sequence});
                else
                    found.push_back(
                        {CommandKind::activate, r, b, first->place.row, first->sequence});
            }
        return found;
    }

    // Row by row of the page's table.
    bool allowed(const Choice &choice, Cycle n) const {
        const thermocline::DramTiming &t = c.timing;
        const int64_t bl = c.burst_cycles, cl = t.cl, cwl = t.cwl;
        if (choice.kind == CommandKind::precharge_all) {
            for (uint32_t b = 0; b < c.banks_per_rank(); b++)
                if (open[choice.rank][b] >= 0 &&
                    !allowed({CommandKind::precharge, choice.rank, b, 0, 0}, n))
                    return false;
            return true;
        }
        unsigned activates_of_rank = 0;
        for (auto at = history.rbegin(); at != history.rend() && at->cycle + longest() > n; ++at) {
            const Command &e = *at;
            bool rank = e.rank == choice.rank;
            bool bank = rank && e.bank == choice.bank;
            bool group = rank && e.bank % c.bank_groups == choice.bank % c.bank_groups;
            auto too_soon = [&](int64_t cycles) {
                return n < e.cycle + uint64_t(std::max<int64_t>(cycles, 0));
            };
            switch (choice.kind) {
            case CommandKind::activate:
                if (e.kind == CommandKind::activate) {
                    if ((bank && too_soon(t.rc)) || (group && too_soon(t.rrd_l)) ||
                        (rank && too_soon(t.rrd_s)))
                        return false;
                    if (rank && ++activates_of_rank == 4 && too_soon(t.faw))
                        return false;
                }
                if (((e.kind == CommandKind::precharge && bank) ||
                     (e.kind == CommandKind::precharge_all && rank)) &&
                    too_soon(t.rp))
                    return false;
                if (e.kind == CommandKind::refresh && rank && too_soon(t.rfc))
                    return false;
                break;
            case CommandKind::refresh:
                if (!rank)
                    break;
                if ((e.kind == CommandKind::activate && too_soon(t.rc)) ||
                    (e.kind == CommandKind::precharge && too_soon(t.rp)) ||
                    (e.kind == CommandKind::precharge_all && too_soon(t.rp)) ||
                    (e.kind == CommandKind::refresh && too_soon(t.rfc)))
                    return false;
                break;
            case CommandKind::precharge:
                if (!bank)
                    break;
                if ((e.kind == CommandKind::activate && too_soon(t.ras)) ||
                    (e.kind == CommandKind::read && too_soon(t.rtp)) ||
                    (e.kind == CommandKind::write && too_soon(cwl + bl + t.wr)))
                    return false;
                break;
            case CommandKind::read:
                if (e.kind == CommandKind::activate && bank && too_soon(t.rcd))
                    return false;
                if (e.kind == CommandKind::read &&
                    ((group && too_soon(t.ccd_l)) || (rank && too_soon(t.ccd_s)) ||
                     (!rank && too_soon(bl + t.rank_switch))))
                    return false;
                if (e.kind == CommandKind::write &&
                    ((group && too_soon(cwl + bl + t.wtr_l)) ||
                     (rank && too_soon(cwl + bl + t.wtr_s)) ||
                     (!rank && too_soon(cwl + bl + t.rank_switch - cl))))
                    return false;
                break;
            case CommandKind::write:
                if (e.kind == CommandKind::activate && bank && too_soon(t.rcd))
                    return false;
                if (e.kind == CommandKind::write &&
                    ((group && too_soon(t.ccd_l)) || (rank && too_soon(t.ccd_s)) ||
                     (!rank && too_soon(bl + t.rank_switch))))
                    return false;
                if (e.kind == CommandKind::read &&
                    ((rank && too_soon(cl + bl + t.bus_turn - cwl)) ||
                     (!rank && too_soon(cl + bl + t.rank_switch - cwl))))
                    return false;
                break;
            default:
                break;
            }
        }
        return true;
    }

    // No row of the table reaches further back.
    Cycle longest() const {
        const thermocline::DramTiming &t = c.timing;
        return Cycle(t.rfc) + t.rc + t.faw + t.ras + t.cl + t.cwl + c.burst_cycles + t.wr +
               t.wtr_l + t.bus_turn + t.rank_switch + t.rp + t.rrd_l + t.ccd_l + t.rtp + t.rcd;
    }

    void issue(const Choice &choice, Cycle n, std::vector<Command> &log,
               std::map<uint64_t, Cycle> &end) {
        uint32_t r = choice.rank, b = choice.bank;
        Command command{n, index, choice.kind, uint8_t(r), uint8_t(b), uint32_t(choice.row)};
        history.push_back(command);
        log.push_back(command);
        switch (choice.kind) {
        case CommandKind::activate:
            open[r][b] = int64_t(choice.row);
            served[r][b] = 0;
            break;
        case CommandKind::precharge:
            open[r][b] = -1;
            break;
        case CommandKind::precharge_all:
            for (int64_t &row : open[r])
                row = -1;
            break;
        case CommandKind::refresh:
            due[r] += c.timing.refi;
            break;
        case CommandKind::read:
        case CommandKind::write: {
            served[r][b]++;
            std::deque<Waiting> &queue = choice.kind == CommandKind::write ? writes : reads;
            for (auto at = queue.begin(); at != queue.end(); ++at)
                if (at->sequence == choice.sequence) {
                    if (choice.kind == CommandKind::read)
                        later(end, at->token, n + c.timing.cl + c.burst_cycles);
                    queue.erase(at);
                    break;
                }
            break;
        }
        }
        drain();
    }

    const DramConfig c;
    const uint32_t index;
    std::deque<Waiting> reads, writes;
    uint64_t sequence = 0;
    bool draining = false;
    std::vector<std::vector<int64_t>> open; // row, or -1
    std::vector<std::vector<uint32_t>> served;
    std::vector<Cycle> due;
    std::deque<Command> history;
};

// Channels, and requests in bursts.
class Memory {
  public:
    explicit Memory(const MemoryConfig &config) : m(config) {
        for (uint32_t i = 0; i < m.channels; i++)
            channels.emplace_back(m.dram, i);
    }

    // All cycles before the one in which a request that arrives then would enter.
    void advance(Ps to) {
        for (; now < cycle_of(to); now++)
            for (Channel &channel : channels)
                channel.tick(now, commands, end);
    }

    // At the time that was advanced to.
    bool accepts(const Request &request) const {
        std::map<uint32_t, size_t> bursts;
        for (uint64_t address : addresses(request))
            bursts[channel_of(address)]++;
        for (auto [channel, count] : bursts)
            if (!channels[channel].room(request.write, count))
                return false;
        return true;
    }

    void push(const Request &request) {
        if (request.write)
            end[request.token] = now;
        for (uint64_t address : addresses(request))
            channels[channel_of(address)].enter(now, local_of(address), request.write,
                                                request.token, end);
    }

    std::vector<Command> commands;
    std::map<uint64_t, Cycle> end; // token to the cycle of completion

  private:
    Cycle cycle_of(Ps t) const { return (t + m.dram.clock_ps - 1) / m.dram.clock_ps; }
    std::vector<uint64_t> addresses(const Request &request) const {
        std::vector<uint64_t> found;
        uint64_t size = m.dram.burst_bytes;
        for (uint64_t at = request.address / size * size; at < request.address + request.bytes;
             at += size)
            found.push_back(at);
        return found;
    }
    uint32_t channel_of(uint64_t address) const {
        return uint32_t(address / m.interleave_bytes % m.channels);
    }
    uint64_t local_of(uint64_t address) const {
        return address / (m.interleave_bytes * m.channels) * m.interleave_bytes +
               address % m.interleave_bytes;
    }

    const MemoryConfig m;
    std::vector<Channel> channels;
    Cycle now = 0;
};

} // namespace reference
