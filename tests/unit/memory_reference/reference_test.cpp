// The memory controller against a cycle-by-cycle model of the same page (reference.h): every
// command in the same cycle, every completion at the same time, every refusal for a full queue.
#include "check.h"
#include "reference.h"
#include "simulator/memory/memory.h"
#include <nlohmann/json.hpp>
#include <random>
#include <tuple>

using thermocline::Completion;
using thermocline::Memory;
using thermocline::MemoryConfig;
using thermocline::parse_memory;
using thermocline::Ps;
using thermocline::Request;

namespace {

using Random = std::mt19937_64;

uint64_t below(Random &random, uint64_t end) { return random() % end; }

uint32_t one_of(Random &random, std::initializer_list<uint32_t> values) {
    return values.begin()[below(random, values.size())];
}

// Timings that no standard has, so that each row of the table decides now and then.
nlohmann::json random_memory(Random &random) {
    uint32_t rcd = 1 + uint32_t(below(random, 14)), rp = 1 + uint32_t(below(random, 14));
    uint32_t cl = 2 + uint32_t(below(random, 14)), cwl = 1 + uint32_t(below(random, cl));
    uint32_t bl = one_of(random, {1, 2, 4, 8});
    uint32_t ras = rcd + uint32_t(below(random, 20)), rc = ras + rp + uint32_t(below(random, 3));
    uint32_t ccd_s = bl + uint32_t(below(random, 2)), ccd_l = ccd_s + uint32_t(below(random, 3));
    uint32_t rrd_s = 1 + uint32_t(below(random, 6)), rrd_l = rrd_s + uint32_t(below(random, 4));
    uint32_t wtr_s = 1 + uint32_t(below(random, 6)), wtr_l = wtr_s + uint32_t(below(random, 6));
    uint32_t reads = one_of(random, {4, 8, 32}), writes = one_of(random, {4, 16, 32});
    uint32_t start = 2 + uint32_t(below(random, writes - 1)), stop = uint32_t(below(random, start));
    uint32_t rfc = rc + uint32_t(below(random, 90));
    uint32_t refi = below(random, 4) ? 2 * (rfc + rc) + uint32_t(below(random, 1500)) : 0;
    return {{"name", "random"},
            {"channels", one_of(random, {1, 1, 2, 3})},
            {"interleave_bytes", one_of(random, {64, 256, 1024})},
            {"fidelity", "faithful"},
            {"dram",
             {{"clock_ps", 500 + below(random, 1000)},
              {"burst_bytes", one_of(random, {32, 64})},
              {"burst_cycles", bl},
              {"ranks", one_of(random, {1, 1, 2, 4})},
              {"bank_groups", one_of(random, {1, 2, 4})},
              {"banks_per_group", one_of(random, {1, 2, 4})},
              {"row_bytes", one_of(random, {256, 1024, 8192})},
              {"separate_row_bus", below(random, 3) == 0},
              {"queues",
               {{"reads", reads},
                {"writes", writes},
                {"drain_start", start},
                {"drain_stop", stop},
                {"row_hit_cap", one_of(random, {1, 2, 16})}}},
              {"timing",
               {{"cl", cl},
                {"cwl", cwl},
                {"rcd", rcd},
                {"rp", rp},
                {"ras", ras},
                {"rc", rc},
                {"ccd_s", ccd_s},
                {"ccd_l", ccd_l},
                {"rrd_s", rrd_s},
                {"rrd_l", rrd_l},
                {"faw", rrd_s * 4 + below(random, 12)},
                {"wr", 1 + below(random, 14)},
                {"wtr_s", wtr_s},
                {"wtr_l", wtr_l},
                {"rtp", 1 + below(random, 8)},
                {"bus_turn", 1 + below(random, 3)},
                {"rank_switch", 1 + below(random, 3)},
                {"rfc", rfc},
                {"refi", refi}}},
              {"energy",
               {{"activate_pj", 1},
                {"read_pj", 1},
                {"write_pj", 1},
                {"refresh_pj", 1},
                {"open_mw", 1},
                {"closed_mw", 1},
                {"static_mw", 1}}}}}};
}

// Requests of one kind of traffic at one load.
struct Stream {
    Random random;
    unsigned kind;        // streaming, random, few rows, mixed
    uint32_t write_share; // in percent
    Ps mean_gap;
    uint64_t span;
    uint64_t at = 0;

    Request next(uint64_t token, Ps last) {
        Request r;
        r.token = token;
        bool stream = kind == 0 || (kind == 3 && below(random, 2));
        uint64_t reach = kind == 2 ? std::min<uint64_t>(span, 1 << 14) : span;
        r.address = stream ? (at += 64) % span : below(random, reach) / 32 * 32;
        r.bytes = below(random, 8) ? 64 : 32u << below(random, 3);
        r.write = below(random, 100) < write_share;
        // Bursts of arrivals and pauses, so that queues fill and run dry.
        r.arrival = last + (below(random, 3)    ? below(random, 2 * mean_gap + 1)
                            : below(random, 20) ? 0
                                                : 40 * mean_gap);
        return r;
    }
};

std::string text(const thermocline::Command &c) {
    static const char *const names[] = {"RD", "WR", "PRE", "ACT", "PREA", "REF"};
    return "cycle " + std::to_string(c.cycle) + " channel " + std::to_string(c.channel) + " " +
           names[unsigned(c.kind)] + " rank " + std::to_string(c.rank) + " bank " +
           std::to_string(c.bank) + " row " + std::to_string(c.row);
}

void compare(const nlohmann::json &json, Stream stream, unsigned requests,
             const std::string &label) {
    MemoryConfig config = parse_memory(json);
    Memory fast(config);
    reference::Memory slow(config);
    std::vector<thermocline::Command> issued;
    fast.record(&issued);
    std::vector<Completion> done;
    Ps now = 0;
    for (unsigned i = 0; i < requests; i++) {
        Request request = stream.next(i, now);
        now = request.arrival;
        for (unsigned tries = 0;; tries++) {
            fast.advance(now, done);
            slow.advance(now);
            request.arrival = now;
            bool accepted = fast.accepts(request);
            if (accepted != slow.accepts(request)) {
                check::fail(__FILE__, __LINE__,
                            label + ": request " + std::to_string(i) + " at " +
                                std::to_string(now) +
                                (accepted ? " was taken into a full queue" : " was refused"));
                return;
            }
            if (accepted)
                break;
            if (tries > 100000) {
                check::fail(__FILE__, __LINE__, label + ": refused for ever");
                return;
            }
            // Not too early by much, and never too late: the caller would lose time.
            now = std::max(now + 1, std::min(fast.next(), now + 20 * config.dram.clock_ps));
        }
        fast.push(request);
        slow.push(request);
    }
    now += Ps(config.dram.clock_ps) * 40000;
    fast.advance(now, done);
    fast.statistics(now); // an idle channel's refreshes are put off until somebody asks
    slow.advance(now);

    // Channels are independent: their order within a cycle means nothing.
    auto by_channel = [](const thermocline::Command &a, const thermocline::Command &b) {
        return std::tuple(a.channel, a.cycle, a.kind) < std::tuple(b.channel, b.cycle, b.kind);
    };
    for (std::vector<thermocline::Command> *commands : {&issued, &slow.commands}) {
        // Only one row and one column command of a channel are in a cycle, so this is an order.
        std::ranges::sort(*commands, by_channel);
    }
    for (size_t i = 0; i < std::min(issued.size(), slow.commands.size()); i++) {
        thermocline::Command a = issued[i], b = slow.commands[i];
        if (a.kind != thermocline::CommandKind::activate)
            a.row = b.row = 0; // only ACT needs to name its row
        if (!(a == b)) {
            check::fail(__FILE__, __LINE__,
                        label + ": command " + std::to_string(i) + ": " + text(a) +
                            ", but by the page " + text(b) + "\n" + json.dump());
            return;
        }
    }
    expect_eq(issued.size(), slow.commands.size());
    expect_eq(done.size(), size_t(requests));
    for (const Completion &completion : done)
        expect_eq(completion.at, slow.end[completion.token] * config.dram.clock_ps);
}

} // namespace

TEST(every_command_in_the_same_cycle) {
    const char *wanted = getenv("CHECK_SEED");
    unsigned seed = wanted ? unsigned(atoi(wanted)) : 1;
    for (unsigned round = 0; round < 160; round++) {
        Random random(seed + round);
        nlohmann::json json = random_memory(random);
        Ps clock = json["dram"]["clock_ps"].get<Ps>();
        Stream stream{Random(random()), round % 4, one_of(random, {0, 20, 50, 100}),
                      clock * one_of(random, {0, 1, 3, 8, 40}),
                      uint64_t(1) << (14 + below(random, 10))};
        compare(json, stream, 600, "seed " + std::to_string(seed + round));
    }
}
