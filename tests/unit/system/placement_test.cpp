// Where pages go, and where they go when there is no room.
#include "check.h"
#include "simulator/memory/config.h"
#include "simulator/placement/placement.h"
#include <nlohmann/json.hpp>
#include <random>
#include <set>

using namespace thermocline;

namespace {

const std::vector<std::string> owners = {"hot!f@a.c:1", "cold!g@b.c:2", "(stack)", "other!h@c.c:3"};

Placement make(const std::string &name, const nlohmann::json &config,
               std::vector<uint64_t> node_pages, uint32_t sockets = 1, uint64_t seed = 0) {
    FramesConfig frames;
    frames.sockets = sockets;
    for (uint64_t pages : node_pages)
        frames.node_bytes.push_back(pages * page_bytes);
    frames.seed = seed;
    return Placement(
        frames, make_policy(name, {config, owners, uint32_t(node_pages.size()) / sockets, seed}));
}

std::string complaint(const std::string &name, const nlohmann::json &config) {
    try {
        make(name, config, {10, 10});
    } catch (const ConfigError &error) {
        return error.what();
    }
    return "";
}

} // namespace

TEST(every_page_has_a_frame_of_its_own_and_keeps_it) {
    Placement placement = make("one-tier", {{"tier", 0}}, {1000, 3003});
    std::set<std::pair<uint32_t, uint64_t>> frames;
    std::vector<Place> first;
    for (uint64_t page = 0; page < 4003; page++) {
        const Place place = placement.find((page * 7919 << 12) + 5, 0, 0, 0);
        expect_eq(place.address % page_bytes, 5u);
        expect_lt(place.address, (place.node == 0 ? 1000 : 3003) * page_bytes);
        frames.insert({place.node, place.address});
        first.push_back(place);
    }
    expect_eq(frames.size(), 4003u);
    for (uint64_t page = 0; page < 4003; page++) {
        const Place again = placement.find((page * 7919 << 12) + 5, 1, 0, 0);
        expect_eq(again.node, first[page].node);
        expect_eq(again.address, first[page].address);
    }
    expect_eq(placement.statistics().pages[0], 1000u);
    expect_eq(placement.statistics().spilled[0], 3003u);
}

TEST(a_full_slow_tier_falls_back_to_a_faster_one_and_a_full_machine_stops) {
    Placement placement = make("one-tier", {{"tier", 1}}, {2, 3, 4});
    std::vector<uint32_t> nodes;
    for (uint64_t page = 0; page < 9; page++)
        nodes.push_back(placement.find(page << 12, 0, 0, 0).node);
    expect_true(nodes == std::vector<uint32_t>({1, 1, 1, 2, 2, 2, 2, 0, 0}));
    std::string what;
    try {
        placement.find(9 << 12, 0, 0, 0);
    } catch (const ConfigError &error) {
        what = error.what();
    }
    expect_true(what.starts_with("the program touches more memory than all tiers have"));
}

TEST(a_plan_places_sites_and_its_overflow_spills) {
    const nlohmann::json plan = {{"default_tier", 1},
                                 {"nonheap_tier", 0},
                                 {"sites", {{owners[0], 0}, {owners[1], 1}, {"gone!x@y.c:1", 0}}}};
    Placement placement = make("guided", plan, {3, 100});
    expect_eq(placement.find(uint64_t(1) << 12, 0, 0, 0).node, 0u);
    expect_eq(placement.find(uint64_t(2) << 12, 1, 0, 0).node, 1u);
    expect_eq(placement.find(uint64_t(3) << 12, 2, 0, 0).node, 0u); // the stack
    expect_eq(placement.find(uint64_t(4) << 12, 3, 0, 0).node, 1u); // not planned
    expect_eq(placement.find(uint64_t(5) << 12, 0, 0, 0).node, 0u);
    expect_eq(placement.find(uint64_t(6) << 12, 0, 0, 0).node, 1u); // no room left
    expect_eq(placement.find(uint64_t(1) << 12, 1, 0, 0).node, 0u); // placed when first touched
    expect_eq(placement.statistics().spilled[0], 1u);
}

TEST(interleaving_deals_pages_by_weight) {
    Placement placement = make("interleave", {{"weights", {3, 1}}}, {1000, 1000});
    for (uint64_t page = 0; page < 400; page++)
        placement.find(page << 12, 0, 0, 0);
    expect_eq(placement.statistics().pages[0], 300u);
    expect_eq(placement.statistics().pages[1], 100u);
}

TEST(random_pages_fill_tiers_as_they_are_large) {
    for (uint64_t seed = 0; seed < 3; seed++) {
        Placement placement = make("random", nlohmann::json::object(), {5000, 20000}, 1, seed);
        for (uint64_t page = 0; page < 10'000; page++)
            placement.find(page << 12, 0, 0, 0);
        expect_le(1850u, placement.statistics().pages[0]); // 2000 expected, sigma below 40
        expect_le(placement.statistics().pages[0], 2150u);
        expect_eq(placement.statistics().spilled[0] + placement.statistics().spilled[1], 0u);
    }
}

TEST(random_pages_go_by_weight_if_there_are_weights) {
    Placement placement = make("random", {{"weights", {1, 3}}}, {50'000, 1'000'000});
    for (uint64_t page = 0; page < 10'000; page++)
        placement.find(page << 12, 0, 0, 0);
    expect_le(2370u, placement.statistics().pages[0]); // 2500 expected, sigma 43
    expect_le(placement.statistics().pages[0], 2630u);
}

TEST(a_thread_gets_memory_of_its_socket_while_there_is_some) {
    Placement placement = make("one-tier", {{"tier", 0}}, {2, 2, 5, 5}, 2);
    std::vector<uint32_t> nodes;
    for (uint64_t page = 0; page < 7; page++)
        nodes.push_back(placement.find(page << 12, 0, 0, 1).node);
    expect_true(nodes == std::vector<uint32_t>({1, 1, 0, 0, 3, 3, 3}));
}

TEST(frames_lie_in_runs_that_are_strewn) {
    Placement placement = make("one-tier", {{"tier", 0}}, {1 << 16});
    uint64_t neighbours = 0, last = 0, farthest = 0;
    for (uint64_t page = 0; page < 1600; page++) {
        const uint64_t address = placement.find(page << 12, 0, 0, 0).address;
        neighbours += address == last + page_bytes;
        last = address;
        farthest = std::max(farthest, address);
    }
    expect_le(1500u, neighbours);
    expect_lt(neighbours, 1520u);
    expect_lt((uint64_t(1) << 15) * page_bytes, farthest);
}

TEST(what_makes_no_sense_is_said_in_one_line) {
    expect_str(complaint("frist-touch", {}),
               "no placement 'frist-touch': there are one-tier, first-touch, random, interleave, "
               "guided");
    expect_str(complaint("one-tier", {{"tier", 2}}), "placement.tier: there is no tier 2");
    expect_true(complaint("interleave", {{"weights", {1}}}) != "");
    expect_true(complaint("interleave", {{"weights", {0, 0}}}) != "");
    expect_true(complaint("guided", {{"default_tier", 7}}) != "");
}
