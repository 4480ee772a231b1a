// Where pages go, and where they go when there is no room.
#include "check.h"
#include "simulator/memory/config.h"
#include "simulator/placement/placement.h"
#include <algorithm>
#include <cmath>
#include <map>
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

// The nodes of so many pages that threads of socket 0 touch first.
std::vector<uint32_t> nodes_of(uint32_t socket, const std::string &policy, uint64_t room) {
    FramesConfig frames;
    frames.sockets = 2;
    frames.socket = socket;
    frames.node_bytes.assign(4, room * page_bytes);
    Placement placement(frames, make_policy(policy, {nlohmann::json::object(), owners, 2, 0}));
    std::vector<uint32_t> nodes;
    for (uint64_t page = 0; page < 8; page++)
        nodes.push_back(placement.find(page * page_bytes, 0, 0, 0).node);
    return nodes;
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

TEST(pages_come_from_the_socket_that_is_asked_for) {
    using Nodes = std::vector<uint32_t>; // tier * 2 + socket
    expect_true(nodes_of(toucher, "one-tier", 10) == Nodes(8, 0));
    expect_true(nodes_of(1, "one-tier", 10) == Nodes(8, 1));
    // Every tier of one socket, then every tier of the other.
    expect_true(nodes_of(in_turn, "interleave", 10) == Nodes({0, 2, 1, 3, 0, 2, 1, 3}));
    // What a full node has no room for goes to the same tier of the other socket.
    expect_true(nodes_of(1, "one-tier", 5) == Nodes({1, 1, 1, 1, 1, 0, 0, 0}));
}

// Against a map from pages to frames: whatever is given back, no two pages share a frame, every
// page keeps its own, and a page that was given back takes room only when it is touched again.
TEST(pages_that_were_given_back_are_touched_first_again) {
    for (const char *policy : {"one-tier", "hma"}) { // without and with counts beside the table
        nlohmann::json config = nlohmann::json::object();
        if (std::string(policy) == "hma")
            config["epoch_ps"] = uint64_t(1000000000);
        Placement placement = make(policy, config, {700, 4000});
        std::map<uint64_t, uint32_t> accesses;
        std::mt19937_64 random(7);
        std::map<uint64_t, std::pair<uint32_t, uint64_t>> model, before;
        for (int step = 0; step < 60000; step++) {
            const uint64_t page = random() % 3000 * 8191;
            const std::pair place = [&] {
                const Place found = placement.find(page * page_bytes, 0, 0, 0);
                return std::pair(found.node, found.address);
            }();
            if (const auto known = model.find(page); known != model.end())
                expect_true(known->second == place);
            model[page] = place;
            if (placement.migrates()) {
                placement.count(page * page_bytes);
                accesses[page]++;
            }
            if (random() % 4 != 0)
                continue;
            // Half a page at each end stays.
            const uint64_t first = random() % 3000 * 8191, count = random() % 30000;
            placement.give_back(first * page_bytes + 2048, count * page_bytes);
            if (count == 0)
                continue;
            for (auto at = model.upper_bound(first); at != model.end() && at->first < first + count;
                 at = model.erase(at))
                before[at->first] = at->second, accesses.erase(at->first);
            expect_eq(placement.pages(), model.size());
        }
        std::set<std::pair<uint32_t, uint64_t>> frames;
        std::vector<uint64_t> pages(2);
        for (const auto &[page, frame] : model) {
            frames.insert(frame);
            pages[frame.first]++;
        }
        expect_eq(frames.size(), model.size());
        std::map<uint64_t, uint32_t> counted;
        for (const PageUse &use : placement.accessed())
            counted[use.page] += use.accesses;
        expect_true(counted == accesses);
        expect_true(placement.statistics().pages == pages);
        expect_true(placement.statistics().most[0] == 700);
        // What a cache writes back to a page that is gone goes where it was, and brings it not
        // back.
        for (const auto &[page, frame] : before) {
            const Place place = placement.home_of_written(page * page_bytes + 64, 0, 0, 0);
            const auto known = model.find(page);
            const auto &wanted = known == model.end() ? frame : known->second;
            expect_true(place.node == wanted.first && place.address == wanted.second + 64);
        }
        expect_eq(placement.pages(), model.size());
    }
}

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

TEST(a_split_site_has_its_shares_in_every_window_and_stride) {
    // Two sites take pages by turns, so that each sees every other page number only.
    const double shares[3] = {0.125, 0.5, 0.375};
    const nlohmann::json plan = {{"default_tier", 2}, {"shares", {{owners[0], shares}}}};
    for (const uint64_t stride : {1, 2, 3, 16, 512}) {
        Placement placement = make("guided", plan, {100'000, 100'000, 100'000});
        std::vector<uint32_t> nodes;
        for (uint64_t page = 0; page < 20'000; page++) {
            nodes.push_back(placement.find((page * stride + 77) << 12, 0, 0, 0).node);
            expect_eq(placement.find((page * stride + 77) << 12, 0, 0, 0).node, nodes.back());
        }
        for (const size_t length : {64, 1000, 5000})
            for (size_t from = 0; from + length <= nodes.size(); from += 997)
                for (uint32_t tier = 0; tier < 3; tier++) {
                    const double got = double(std::count(
                        nodes.begin() + long(from), nodes.begin() + long(from + length), tier));
                    if (std::abs(got - shares[tier] * double(length)) > 12)
                        check::fail(__FILE__, __LINE__, "uneven");
                }
        expect_eq(placement.find(uint64_t(1) << 40, 1, 0, 0).node, 2u); // not split
    }
}

TEST(what_a_split_site_wanted_in_a_full_tier_spills) {
    const nlohmann::json plan = {
        {"default_tier", 1}, {"sites", {{owners[0], 0}}}, {"shares", {{owners[0], {3, 1}}}}};
    Placement placement = make("guided", plan, {500, 4000});
    for (uint64_t page = 0; page < 1000; page++)
        placement.find(page << 12, 0, 0, 0);
    expect_eq(placement.statistics().pages[0], 500u);
    expect_eq(placement.statistics().pages[1], 500u);
    expect_le(245u, placement.statistics().spilled[0]); // of 750
    expect_le(placement.statistics().spilled[0], 255u);
    expect_eq(placement.statistics().spilled[1], 0u);
}

TEST(a_tier_without_a_share_gets_nothing) {
    const nlohmann::json plan = {{"default_tier", 2}, {"shares", {{owners[0], {0, 1, 0}}}}};
    Placement placement = make("guided", plan, {9000, 9000, 9000});
    for (uint64_t page = 0; page < 5000; page++)
        expect_eq(placement.find(page << 12, 0, 0, 0).node, 1u);
}

TEST(a_spread_site_goes_round_the_sockets_in_its_shares) {
    // Threads of one socket touch all of it.  Nodes are tier * 2 + socket.
    const nlohmann::json plan = {{"default_tier", 1},
                                 {"shares", {{owners[0], {0.75, 0.25}}}},
                                 {"spread", {owners[0], owners[1]}}};
    Placement placement = make("guided", plan, {9000, 9000, 9000, 9000}, 2);
    std::vector<int> pages(4);
    for (uint64_t page = 0; page < 8000; page++)
        pages[placement.find(page << 12, 0, 0, 1).node]++;
    const std::vector<double> shares = {0.375, 0.375, 0.125, 0.125};
    for (size_t node = 0; node < 4; node++)
        if (std::abs(pages[node] - shares[node] * 8000) > 8)
            check::fail(__FILE__, __LINE__, "uneven");
    // The second site is whole, and the third is not spread.
    std::vector<uint32_t> nodes;
    for (uint64_t page = 0; page < 4; page++)
        nodes.push_back(placement.find((page + 100'000) << 12, 1, 0, 1).node);
    expect_true(nodes == std::vector<uint32_t>({2, 3, 2, 3}));
    expect_eq(placement.find(uint64_t(1) << 40, 3, 0, 1).node, 3u);
    expect_eq(placement.find((uint64_t(1) << 40) + 4096, 3, 0, 1).node, 3u);
}

TEST(a_spread_site_spills_on_all_sockets_at_once) {
    const nlohmann::json plan = {
        {"default_tier", 1}, {"sites", {{owners[0], 0}}}, {"spread", {owners[0]}}};
    Placement placement = make("guided", plan, {500, 500, 4000, 4000}, 2);
    for (uint64_t page = 0; page < 3000; page++)
        expect_eq(placement.find(page << 12, 0, 0, 0).node, page % 2 + (page < 1000 ? 0 : 2));
    expect_eq(placement.statistics().spilled[0], 2000u);
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
               "guided, hma, migrate");
    expect_str(complaint("one-tier", {{"tier", 2}}), "placement.tier: there is no tier 2");
    expect_true(complaint("interleave", {{"weights", {1}}}) != "");
    expect_true(complaint("interleave", {{"weights", {0, 0}}}) != "");
    expect_true(complaint("guided", {{"default_tier", 7}}) != "");
    const auto shares = [](const std::vector<double> &each) {
        return complaint("guided", {{"shares", {{owners[0], each}}}});
    };
    expect_str(shares({0.5, 0.25, 0.25}), "the plan names tier 2: the machine has 2 tiers");
    expect_str(shares({1.5, -0.5}), "placement.shares: a share is not below 0");
    for (const std::vector<double> &each : {std::vector<double>(), {0, 0}})
        expect_str(shares(each), "placement.shares: give each tier's share, not all of them 0");
}
