// Caches in near memory against a slow and obvious model: every request to a device, and when
// the answer comes.
#include "check.h"
#include "machine.h"
#include "simulator/organisation/alloy.h"
#include "simulator/organisation/memory_cache.h"
#include <map>
#include <random>
#include <set>

using namespace thermocline;

namespace {

constexpr Ps near_latency = 50'000, far_latency = 200'000;
using Sent = std::tuple<uint32_t, uint64_t, uint32_t, bool>; // node, address, bytes, write
using Device = Router<FixedMemory>;

// An organisation alone, one demand after the other.
template <template <class> class Organisation> struct Alone {
    std::vector<FixedMemory> memories;
    Device router;
    Organisation<Device> organisation;
    Ps now = 0;

    explicit Alone(const OrganisationConfig &config)
        : memories{FixedMemory(near_latency, 0), FixedMemory(far_latency, 0)},
          router({{0, 0, 0}, {1, 0, 0}}, memories, 1), organisation(config, router) {}

    // How long the demand took; 0 for a write.
    Ps serve(const Demand &demand) {
        const Ps begin = now;
        Ps end = begin;
        organisation.demand(demand, now);
        while (!router.quiet() || memories[0].next() != never || memories[1].next() != never) {
            const Ps next = std::min({router.next(), memories[0].next(), memories[1].next()});
            now = std::max(now, next);
            router.run(now, [](uint32_t) {});
            for (uint32_t memory = 0; memory < 2; memory++)
                router.advance(memory, now + 1, [&](uint64_t token, Ps at) {
                    const Answer answer = organisation.completed(token, at);
                    if (answer.token != nobody)
                        end = answer.at;
                });
        }
        now += 1'000'000;
        return end - begin;
    }
    std::multiset<Sent> sent() const {
        std::multiset<Sent> all;
        for (uint32_t node = 0; node < 2; node++)
            for (const Request &each : memories[node].seen)
                all.insert({node, each.address, each.bytes, each.write});
        return all;
    }
};

OrganisationConfig config(uint64_t near_bytes, nlohmann::json options = nlohmann::json::object()) {
    OrganisationConfig made;
    made.cores = 2;
    made.node_bytes = {near_bytes, uint64_t(1) << 30};
    made.options = std::move(options);
    return made;
}

std::vector<Demand> demands(uint64_t seed, size_t count, uint64_t lines) {
    std::mt19937_64 random(seed);
    std::vector<Demand> list;
    for (size_t i = 0; i < count; i++) {
        Demand demand;
        demand.node = 1;
        demand.address = random() % lines * 64;
        demand.token = i;
        demand.instruction = uint32_t(random() % 5);
        demand.core = uint32_t(random() % 2);
        demand.write = random() % 3 == 0;
        if (demand.write) {
            demand.token = nobody;
            demand.purpose = Purpose::writeback;
        }
        list.push_back(demand);
    }
    return list;
}

// A direct-mapped cache, written down plainly.
struct Model {
    uint64_t sets;
    std::map<uint64_t, std::pair<uint64_t, bool>> held; // set -> line, dirty
    std::multiset<Sent> sent;
    std::function<uint64_t(uint64_t)> place; // of a set
    uint32_t unit;
    uint64_t misses = 0;

    bool serve(const Demand &demand, bool early) {
        const uint64_t line = demand.address / 64, set = line % sets;
        const bool hit = held.count(set) && held[set].first == line;
        misses += !hit;
        sent.insert({0, place(set), unit, false}); // tag and data
        if (!demand.write && (!hit || early))
            sent.insert({1, demand.address, 64, false});
        if (!hit && held.count(set) && held[set].second)
            sent.insert({1, held[set].first * 64, 64, true});
        if (!hit || demand.write)
            sent.insert({0, place(set), unit, true});
        held[set] = {line, demand.write || (hit && held[set].second)};
        return hit;
    }
};

} // namespace

TEST(a_memory_side_cache_sends_what_a_plain_model_sends) {
    for (uint64_t seed = 0; seed < 4; seed++) {
        const bool parallel = seed % 2, half = seed / 2;
        const uint64_t near = 4096 * 8;
        Alone<MemoryCache> alone(config(
            near, {{"lookup", parallel ? "parallel" : "serial"}, {"share", half ? 0.5 : 1.0}}));
        const uint64_t base = half ? near / 2 : 0;
        Model model{(near - base) / 64, {}, {}, [&](uint64_t set) { return base + set * 64; }, 64};
        for (const Demand &each : demands(seed, 4000, 1500)) {
            const Ps took = alone.serve(each);
            const bool hit = model.serve(each, parallel);
            const Ps expected = each.write ? 0
                                : hit      ? near_latency
                                : parallel ? far_latency
                                           : near_latency + far_latency;
            expect_eq(took, expected);
        }
        expect_true(alone.sent() == model.sent);
        const nlohmann::json counts = alone.organisation.statistics();
        expect_eq(counts["read_misses"].get<uint64_t>() + counts["write_misses"].get<uint64_t>(),
                  model.misses);
        expect_lt(500u, model.misses);
    }
}

TEST(larger_blocks_miss_what_plain_caches_of_them_miss) {
    const uint64_t near = 4096 * 8;
    Alone<MemoryCache> alone(config(near, {{"blocks", "on"}}));
    std::map<uint64_t, std::map<uint64_t, uint64_t>> held; // bytes of a block -> set -> block
    std::map<uint64_t, uint64_t> misses;
    for (const Demand &each : demands(3, 4000, 1500)) {
        alone.serve(each);
        for (uint64_t bytes = 64; bytes <= 4096; bytes *= 2) {
            const uint64_t block = each.address / bytes, set = block % (near / bytes);
            const auto there = held[bytes].find(set);
            misses[bytes] += there == held[bytes].end() || there->second != block;
            held[bytes][set] = block;
        }
    }
    const nlohmann::json counts = alone.organisation.statistics();
    expect_eq(counts["blocks"].size(), misses.size());
    for (const nlohmann::json &each : counts["blocks"]) {
        expect_eq(each["misses"].get<uint64_t>(), misses[each["bytes"].get<uint64_t>()]);
        expect_eq(each["demands"].get<uint64_t>(), 4000u);
    }
    // Lines of 64 bytes are the cache that is simulated.
    expect_eq(counts["blocks"][0]["misses"].get<uint64_t>(),
              counts["read_misses"].get<uint64_t>() + counts["write_misses"].get<uint64_t>());
}

TEST(hybrid_mode_leaves_a_part_of_near_memory_to_the_system) {
    OrganisationConfig hybrid = config(1 << 20, {{"share", 0.25}});
    std::vector<uint64_t> visible = hybrid.node_bytes;
    MemoryCache<Device>::reserve(hybrid, visible);
    expect_eq(visible[0], 3u << 18);
    expect_eq(visible[1], 1u << 30);
    Alone<MemoryCache> alone(hybrid);
    Demand demand;
    demand.address = 4096;
    demand.token = 7;
    expect_eq(alone.serve(demand), near_latency);
    demand.write = true;
    demand.token = nobody;
    alone.serve(demand);
    expect_true(alone.sent() == std::multiset<Sent>({{0, 4096, 64, false}, {0, 4096, 64, true}}));
}

TEST(a_write_that_somebody_waits_for_is_answered_once_it_is_known_where_it_goes) {
    Alone<MemoryCache> alone(config(4096 * 8));
    Demand demand;
    demand.node = 1;
    demand.address = 4096;
    demand.write = true;
    demand.token = 7;
    expect_eq(alone.serve(demand), near_latency);
    expect_true(alone.sent() == std::multiset<Sent>({{0, 4096, 64, false}, {0, 4096, 64, true}}));
}

TEST(an_alloy_cache_sends_what_a_plain_model_sends) {
    for (const std::string predictor : {"serial", "parallel", "map-i"}) {
        const uint64_t near = 2048 * 20;
        Alone<Alloy> alone(config(near, {{"predictor", predictor}}));
        // 28 units of 72 bytes in a row of 2 KiB (Qureshi and Loh 2012, section 4).
        Model model{
            20 * 28, {}, {}, [](uint64_t set) { return set / 28 * 2048 + set % 28 * 72; }, 72};
        std::map<std::pair<uint32_t, uint32_t>, int> counters; // of a core's instruction
        uint64_t early_reads = 0, reads = 0;
        for (const Demand &each : demands(5, 6000, 900)) {
            int &counter = counters[{each.core, each.instruction}];
            const bool early =
                !each.write && (predictor == "parallel" || (predictor == "map-i" && counter >= 4));
            const Ps took = alone.serve(each);
            const bool hit = model.serve(each, early);
            if (!each.write) {
                counter = std::clamp(counter + (hit ? -1 : 1), 0, 7);
                early_reads += early;
                reads++;
            }
            expect_eq(took, each.write ? 0
                            : hit      ? near_latency
                            : early    ? far_latency
                                       : near_latency + far_latency);
        }
        expect_true(alone.sent() == model.sent);
        expect_eq(alone.organisation.statistics()["early_far_reads"].get<uint64_t>(), early_reads);
        if (predictor == "map-i") {
            expect_lt(100u, early_reads);
            expect_lt(early_reads, reads - 100);
        }
    }
}

TEST(a_whole_machine_with_a_near_cache_serves_a_small_program_from_it) {
    TestMachine machine;
    machine.node_bytes = {uint64_t(1) << 20, uint64_t(64) << 20};
    machine.config.organisation.options = {{"share", 1.0}};
    std::vector<ListedReference> list;
    for (size_t round = 0; round < 4; round++)
        for (size_t i = 0; i < 4096; i++)
            list.push_back(load(64 * i));
    run<MemoryCache>(machine, {list}, [](auto &system, auto &, auto &placement) {
        expect_eq(placement.statistics().pages[0], 0u);
        expect_eq(placement.statistics().pages[1], 64u);
        // Far memory is read once a line at least, and conflicts apart no more.
        const TierUse &far = system.router().use(1)[0];
        expect_le(4096u * 64, far.read[0]);
        expect_lt(far.read[0], 4096u * 64 * 2);
        expect_eq(system.organisation().statistics()["read_hits"].template get<uint64_t>() +
                      system.organisation().statistics()["read_misses"].template get<uint64_t>(),
                  4 * 4096u);
    });
}

TEST(options_that_make_no_sense_are_said) {
    for (const auto &[options, near] :
         std::vector<std::pair<nlohmann::json, uint64_t>>{{{{"share", 0.0}}, 4096},
                                                          {{{"share", 1.5}}, 4096},
                                                          {{{"lookup", "guess"}}, 4096},
                                                          {{{"blocks", "maybe"}}, 4096}}) {
        std::string what;
        try {
            const OrganisationConfig bad = config(near, options);
            std::vector<uint64_t> visible = bad.node_bytes;
            MemoryCache<Device>::reserve(bad, visible);
            Alone<MemoryCache> alone(bad);
        } catch (const ConfigError &error) {
            what = error.what();
        }
        expect_true(what.starts_with("organisation."));
    }
}
