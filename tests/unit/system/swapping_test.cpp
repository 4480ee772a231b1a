// The oracle of organisations that move lines.  It stands where the router is, holds what lies in
// every slot of both memories, and answers reads after times of its own.  After any trace no line
// is lost or doubled, and every access was served from where the line's one true copy was.
#include "check.h"
#include "simulator/organisation/cameo.h"
#include "simulator/organisation/pom.h"
#include "simulator/organisation/silc_fm.h"
#include <map>
#include <queue>
#include <random>

using namespace thermocline;

namespace {

// A router that keeps what is sent, and returns reads after some time, by the seed.
struct Oracle {
    struct Sent {
        Send send;
        Ps at;
        uint64_t order;
        bool operator<(const Sent &other) const {
            return at != other.at ? at < other.at : order < other.order;
        }
    };
    struct Due {
        Ps at;
        uint64_t order, token;
        bool operator>(const Due &other) const {
            return at != other.at ? at > other.at : order > other.order;
        }
    };
    explicit Oracle(uint64_t seed) : random(seed) {}
    uint32_t tiers() const { return 2; }
    void send(const Send &send, Ps at) {
        expect_le(now, at);
        expect_eq(send.write, send.token == nobody);
        sent.push_back({send, at, sent.size()});
        if (!send.write)
            due.push({at + 1000 + random() % (random() % 4 ? 20'000 : 200'000), sent.size(),
                      send.token});
    }

    std::mt19937_64 random;
    Ps now = 0;
    std::vector<Sent> sent;
    std::priority_queue<Due, std::vector<Due>, std::greater<>> due;
};

// What lies where, as all that was sent says in the order of its times.
struct Contents {
    struct Line {
        std::pair<uint32_t, uint64_t> place;
        uint64_t written = 0;       // times, by the program
        uint64_t read = UINT64_MAX; // what of it was read last, for whoever writes it elsewhere
    };
    std::map<uint64_t, Line> lines;
    std::map<std::pair<uint32_t, uint64_t>, std::pair<uint64_t, uint64_t>> slots; // line, written
    uint64_t moved = 0;

    Line &line(uint64_t number, const std::pair<uint32_t, uint64_t> &place) {
        const auto [found, fresh] = lines.try_emplace(number);
        if (fresh) { // at home, which must be nobody else's
            found->second.place = place;
            expect_true(slots.try_emplace(place, number, 0).second);
        }
        return found->second;
    }
    void see(const Send &send) {
        if (send.line == nobody)
            return; // an entry, or a wrong guess
        const std::pair<uint32_t, uint64_t> place = {send.node, send.address};
        if (send.write && send.purpose == Purpose::migration) {
            Line &mine = lines.at(send.line); // was read before
            expect_eq(mine.read, mine.written);
            // Who was here has been read as well, to go elsewhere, or is gone already.
            const auto was = slots.find(place);
            expect_true(was != slots.end());
            const Line &other = lines.at(was->second.first);
            if (other.place == place)
                expect_eq(other.read, other.written);
            mine.place = place;
            slots[place] = {send.line, mine.written};
            moved++;
            return;
        }
        Line &mine = line(send.line, place);
        expect_true(mine.place == place);
        expect_true(slots[place] == std::pair(send.line, mine.written));
        if (send.write)
            slots[place].second = ++mine.written;
        else
            mine.read = mine.written;
    }
    void finish() const {
        for (const auto &[number, line] : lines)
            expect_true(slots.at(line.place) == std::pair(number, line.written));
        expect_eq(slots.size(), lines.size());
    }
};

struct Shape {
    uint64_t near_bytes, far_bytes;
    uint32_t sockets;
    uint64_t seed, count;
};

struct Result {
    nlohmann::json statistics;
    uint64_t moved = 0, near_reads = 0;
    uint64_t came_near = 0; // reads of far addresses of the site "cold"
};

const std::vector<std::string> owners = {"hot", "cold", "other"};

// Reads and write-backs of hot and cold lines, many under way at a time; never two of one line, as
// the caches see to it.
template <template <class> class Organisation>
Result shake(const Shape &shape, const nlohmann::json &options) {
    OrganisationConfig config;
    config.sockets = shape.sockets;
    config.cores = 2;
    for (uint64_t bytes : {shape.near_bytes, shape.far_bytes})
        config.node_bytes.insert(config.node_bytes.end(), shape.sockets, bytes);
    config.options = options;
    config.owners = &owners;
    config.own_nodes = true;
    std::vector<uint64_t> visible = config.node_bytes;
    Organisation<Oracle>::reserve(config, visible);
    expect_le(visible[0], shape.near_bytes);
    Oracle oracle(shape.seed);
    Organisation<Oracle> organisation(config, oracle);
    std::mt19937_64 random(shape.seed + 1);

    struct Served {
        uint64_t line;
        Ps asked, answered;
        uint32_t node;
    };
    std::map<uint64_t, std::pair<Demand, Ps>> asked; // by token
    std::vector<Served> served;
    std::map<std::pair<uint32_t, uint64_t>, uint64_t> under_way;
    Contents contents;
    Result result;
    uint64_t answers = 0, reads = 0, sequential = 0;
    const auto run_to = [&](Ps until) {
        // Memories report what completes before its time.
        constexpr Ps early = 3000;
        while (!oracle.due.empty() && oracle.due.top().at <= until + early) {
            const Oracle::Due due = oracle.due.top();
            oracle.due.pop();
            oracle.now = std::max(oracle.now, std::max(due.at, early) - early);
            const Answer answer = organisation.completed(due.token, due.at);
            if (answer.token == nobody)
                continue;
            expect_le(answer.at, due.at);
            expect_eq(asked.count(answer.token), 1u);
            const auto [demand, since] = asked[answer.token];
            const uint64_t line =
                demand.address / 64 + (demand.node < shape.sockets ? 0 : visible[0] / 64);
            served.push_back({line * shape.sockets + demand.node % shape.sockets, since, answer.at,
                              answer.node});
            expect_true(answer.node != demanded_node &&
                        answer.node % shape.sockets == demand.node % shape.sockets);
            const bool near = answer.node < shape.sockets;
            result.near_reads += near;
            result.came_near += near && demand.node >= shape.sockets && demand.owner == 1;
            asked.erase(answer.token);
            under_way.erase({demand.node, demand.address});
            answers++;
        }
        oracle.now = until;
    };
    for (uint64_t i = 0; i < shape.count; i++) {
        run_to(oracle.now + random() % 8000);
        Demand demand;
        demand.node = uint32_t(random() % (2 * shape.sockets));
        const uint64_t lines = visible[demand.node] / 64;
        const uint64_t hot = random() % 4;
        demand.address = (hot == 0   ? random() % lines
                          : hot == 1 ? random() % std::min<uint64_t>(lines, 96)
                                     : sequential++ / 3 % lines) *
                         64;
        // Of some shapes, pages change hands.
        demand.owner = uint32_t(demand.address / 4096 + shape.seed % 2 * (i / 1500)) % 3;
        demand.instruction = uint32_t(random() % 5);
        demand.core = uint32_t(random() % 2);
        demand.write = random() % 4 == 0;
        if (under_way.count({demand.node, demand.address}))
            continue;
        if (demand.write) {
            demand.purpose = Purpose::writeback;
        } else {
            demand.purpose = random() % 50 == 0  ? Purpose::migration // a page's copier
                             : random() % 5 == 0 ? Purpose::prefetch
                                                 : Purpose::demand;
            demand.token = i;
            asked[i] = {demand, oracle.now};
            under_way[{demand.node, demand.address}] = i;
            reads++;
        }
        organisation.demand(demand, oracle.now);
    }
    while (!oracle.due.empty())
        run_to(oracle.due.top().at);
    expect_eq(answers, reads);
    expect_true(asked.empty());

    std::sort(oracle.sent.begin(), oracle.sent.end());
    std::map<uint64_t, std::map<Ps, uint32_t>> read_from; // line -> when, node
    for (const Oracle::Sent &each : oracle.sent) {
        contents.see(each.send);
        if (!each.send.write)
            read_from[each.send.line][each.at] = each.send.node;
        // Each in a node, and no further than that reaches.
        if (each.send.node < config.node_bytes.size())
            expect_le(each.send.address + each.send.bytes, config.node_bytes[each.send.node]);
    }
    contents.finish();
    for (const Served &each : served) { // by a read of the line, since it was asked for
        const auto &reads_of = read_from[each.line];
        bool found = false;
        for (auto read = reads_of.lower_bound(each.asked);
             read != reads_of.end() && read->first < each.answered; ++read)
            found |= read->second == each.node;
        expect_true(found);
    }
    result.moved = contents.moved;
    result.statistics = organisation.statistics();
    expect_eq(result.statistics["moved_lines"].get<uint64_t>(), result.moved);
    expect_eq(result.statistics["near_reads"].get<uint64_t>() +
                  result.statistics["far_reads"].get<uint64_t>(),
              reads);
    return result;
}

const std::vector<Shape> shapes = {
    {16384, 65536, 1, 1, 6000}, {20480, 65536, 1, 2, 6000},  {65536, 16384, 1, 3, 4000},
    {12288, 98304, 2, 4, 6000}, {16384, 200704, 1, 5, 6000}, {1 << 20, 1 << 22, 1, 6, 6000},
};

} // namespace

TEST(cameo_loses_no_line) {
    for (const Shape &shape : shapes)
        for (const nlohmann::json &options : std::vector<nlohmann::json>{
                 nlohmann::json::object(),
                 {{"predictor", "off"}},
                 {{"prefetch", 3}},
                 {{"prefetch", 3}, {"entry_bytes", 0}, {"row_bytes", 4096}}}) {
            const Result result = shake<Cameo>(shape, options);
            expect_lt(1000u, result.moved);
            if (options.value("predictor", "on") == "on")
                expect_lt(100u, result.statistics["wasted_reads"].get<uint64_t>());
            expect_eq(result.statistics["prefetched_lines"].get<uint64_t>() > 100,
                      options.contains("prefetch"));
        }
}

TEST(cameo_above_its_share_moves_less_and_loses_no_line) {
    for (const Shape &shape : shapes) {
        const Result always = shake<Cameo>(shape, {{"entry_bytes", 0}});
        const Result limited = shake<Cameo>(shape, {{"entry_bytes", 0}, {"split", 0.1}});
        expect_lt(limited.moved, always.moved);
    }
}

TEST(pom_loses_no_line) {
    for (const Shape &shape : shapes)
        for (uint32_t threshold : {1u, 4u, 32u}) {
            const Result result =
                shake<Pom>(shape, {{"threshold", threshold}, {"cache_bytes", threshold * 64}});
            const uint64_t swaps = result.statistics["segments_swapped"].get<uint64_t>();
            expect_eq(result.moved, swaps * 64);
            if (threshold < 32)
                expect_lt(2u, swaps);
            expect_lt(0u, result.statistics["entry_misses"].get<uint64_t>());
        }
}

TEST(silc_fm_loses_no_line) {
    uint64_t moved = 0, locked = 0, prefetched = 0, restored = 0, bypassed = 0, waited = 0,
             held = 0;
    for (const Shape &shape : shapes)
        for (uint32_t off = 0; off < 32; off++) {
            nlohmann::json options = {{"ways", 1u << off % 3},
                                      {"threshold", off % 2 ? 6 : 20},
                                      {"aging", 500 + off * 100}};
            const char *names[] = {"locking", "history", "predictor", "bypass"};
            for (unsigned i = 0; i < 4; i++)
                options[names[i]] = off >> i & 1 ? "off" : "on";
            options["metadata"] = off & 16 ? "free" : off & 4 ? "channel" : "near";
            options["lookup"] = off & 1 ? "set" : "serial";
            options["counters"] = off & 2 ? "chip" : "near";
            options["split"] = off % 4 ? 0.8 : 0.3;
            const Result result = shake<SilcFm>(shape, options);
            const nlohmann::json &counts = result.statistics;
            moved += result.moved;
            uint64_t cases = 0, accesses = 0;
            for (const auto &each : counts["cases"])
                cases += each.get<uint64_t>();
            for (const char *name : {"near_reads", "far_reads", "near_writes", "far_writes"})
                accesses += counts[name].get<uint64_t>();
            expect_le(cases, accesses); // blocks in no set have no case
            expect_le(counts["cases"]["match_near"].get<uint64_t>() +
                          counts["cases"]["native_home"].get<uint64_t>(),
                      counts["near_reads"].get<uint64_t>() + counts["near_writes"].get<uint64_t>());
            held += counts["cases"]["other_held"].get<uint64_t>();
            expect_eq(counts["lookups"].get<uint64_t>() == 0, (off & 16) != 0);
            if (off & 1)
                expect_eq(counts["locked_blocks"].get<uint64_t>(), 0u);
            if (off & 2)
                expect_eq(counts["prefetched_lines"].get<uint64_t>(), 0u);
            if (off & 8)
                expect_eq(counts["bypassed_reads"].get<uint64_t>(), 0u);
            locked += counts["locked_blocks"].get<uint64_t>();
            prefetched += counts["prefetched_lines"].get<uint64_t>();
            restored += counts["restored_blocks"].get<uint64_t>();
            bypassed += counts["bypassed_reads"].get<uint64_t>();
            waited += counts["waited"].get<uint64_t>();
        }
    for (uint64_t each : {moved / 100, locked, prefetched, restored, bypassed, waited, held})
        expect_lt(100u, each);
}

TEST(silc_fm_by_a_plan_loses_no_line) {
    uint64_t hot = 0;
    for (const Shape &shape : shapes) {
        uint64_t planned = 0, kept_out = 0;
        for (uint32_t off = 0; off < 32; off++) {
            nlohmann::json options = {{"plan", "on"},
                                      {"sites", {{"hot", 0}, {"cold", 1}}},
                                      {"ways", 1u << off % 3},
                                      {"threshold", 6},
                                      {"aging", 500 + off * 100},
                                      {"split", off % 4 ? 0.8 : 0.3}};
            const char *names[] = {"locking", "history", "predictor", "bypass"};
            for (unsigned i = 0; i < 4; i++)
                options[names[i]] = off >> i & 1 ? "off" : "on";
            options["metadata"] = off & 16 ? "free" : "near";
            const Result result = shake<SilcFm>(shape, options);
            planned += result.statistics["planned_blocks"].get<uint64_t>();
            kept_out += result.statistics["kept_out_reads"].get<uint64_t>();
            hot += result.statistics["locked_blocks"].get<uint64_t>();
            if (shape.seed % 2 == 0) // sites keep their pages
                expect_eq(result.came_near, 0u);
        }
        expect_lt(20u, planned);
        expect_lt(1000u, kept_out);
    }
    expect_lt(100u, hot); // sites without a directive are as before
}

TEST(silc_fm_without_a_plan_brings_every_site_near) {
    uint64_t came_near = 0;
    for (const Shape &shape : shapes) {
        const Result result = shake<SilcFm>(shape, {{"threshold", 6}, {"bypass", "off"}});
        expect_true(!result.statistics.contains("planned_blocks"));
        came_near += result.came_near;
    }
    expect_lt(100u, came_near);
}
