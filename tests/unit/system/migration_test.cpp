// Pages that migrate: the page table's rules, and on whole machines that data follow their page.
#include "check.h"
#include "machine.h"
#include <map>
#include <random>
#include <set>

using namespace thermocline;

namespace {

using Machine = TestMachine;

// Says what the test wants at each epoch's end and at the threshold.
class Scripted final : public PlacementPolicy {
  public:
    MigrationRules given;
    std::function<std::vector<Operation>(const Placement &)> at_epoch;
    std::function<std::vector<Operation>(const PageUse &, const Placement &)> at_threshold;

    uint32_t tier(const Touch &touch, const Frames &) override { return touch.page % 3 == 0; }
    MigrationRules rules() const override { return given; }
    std::vector<Operation> epoch(const Placement &placement) override {
        return at_epoch ? at_epoch(placement) : std::vector<Operation>();
    }
    std::vector<Operation> reached(const PageUse &use, const Placement &placement) override {
        return at_threshold ? at_threshold(use, placement) : std::vector<Operation>();
    }
};

MigrationRules rules(Ps epoch, uint32_t threshold = 0) {
    MigrationRules made;
    made.epoch = epoch;
    made.threshold = threshold;
    made.operation = 300'000;
    made.shootdown = 50'000;
    made.copiers = 3;
    made.lines = 5;
    return made;
}

Placement table(std::vector<uint64_t> tier_pages, MigrationRules given = rules(1)) {
    FramesConfig frames;
    for (uint64_t pages : tier_pages)
        frames.node_bytes.push_back(pages * page_bytes);
    auto policy = std::make_unique<Scripted>();
    policy->given = given;
    return Placement(frames, std::move(policy));
}

std::vector<PageUse> all_uses(const Placement &placement) {
    std::vector<PageUse> all;
    for (uint32_t tier = 0; tier < placement.frames().tiers(); tier++)
        for (const PageUse &use : placement.uses(tier))
            all.push_back(use);
    expect_eq(all.size(), placement.pages());
    return all;
}

// Any pages to any tiers; every other operation is two pages that change places.
std::vector<Operation> anything(std::mt19937_64 &random, const Placement &placement, size_t count,
                                uint32_t tiers) {
    const std::vector<PageUse> uses = all_uses(placement);
    std::vector<Operation> operations;
    for (size_t i = 0; i < count && !uses.empty(); i++) {
        Operation operation;
        for (size_t page = 0, pages = 1 + random() % 4; page < pages && i % 2 == 0; page++)
            operation.push_back({uses[random() % uses.size()].page, uint32_t(random() % tiers)});
        if (i % 2) {
            const PageUse &a = uses[random() % uses.size()], &b = uses[random() % uses.size()];
            operation = {{a.page, b.tier}, {b.page, a.tier}};
        }
        operations.push_back(std::move(operation));
    }
    return operations;
}

// --- Data follow their page. ---

// What an organisation was asked, with the owner as the page's name: each page of the traces below
// has an owner of its own.
struct Asked {
    Ps at;
    size_t number;
    Demand demand;
};
std::vector<Asked> asked;
template <class Router> class Recording : public Flat<Router> {
  public:
    using Flat<Router>::Flat;
    void demand(const Demand &demand, Ps at) {
        asked.push_back({at, asked.size(), demand});
        Flat<Router>::demand(demand, at);
    }
};

// Memory that knows what was written where.  A line is (page, line in it), with the count of its
// writes as its contents.
struct Shadow {
    using Line = std::pair<uint64_t, uint64_t>;
    std::map<std::pair<uint32_t, uint64_t>, std::pair<Line, uint64_t>> frames; // by place
    std::map<Line, uint64_t> written, on_way;
    uint64_t checked = 0;

    void see(const Demand &demand) {
        const Line line = {demand.owner, demand.address / 64 % 64};
        const std::pair<uint32_t, uint64_t> place = {demand.node, demand.address};
        const bool copied = demand.purpose == Purpose::migration;
        if (!demand.write) {
            const auto held = frames.try_emplace(place, line, 0).first;
            if (copied) { // whatever is there, never used or of another page that was there
                on_way[line] = held->second.first == line ? held->second.second : 0;
                return;
            }
            // A line that was never written may be what the frame held before.
            if (written[line] > 0)
                expect_true(held->second.first == line);
            if (held->second.first == line)
                expect_eq(held->second.second, written[line]);
            checked++;
        } else if (copied) {
            expect_true(on_way.count(line) == 1);
            frames[place] = {line, on_way[line]};
            on_way.erase(line);
        } else {
            expect_true(on_way.count(line) == 0); // a write while its page is copied is lost
            frames[place] = {line, ++written[line]};
        }
    }
};

struct Outcome {
    MigrationStatistics migrations;
    uint64_t near = 0, far = 0; // bytes of migration: read and written
};

// Threads that read and write everywhere in so many pages, while pages move.
Outcome shaken(uint64_t seed, Scripted script, Machine machine, uint64_t pages, uint64_t count) {
    std::mt19937_64 random(seed);
    std::vector<std::vector<ListedReference>> threads(2);
    for (size_t i = 0; i < count; i++) {
        const uint64_t page = random() % 3 ? random() % pages : random() % 4;
        const uint64_t address = page * page_bytes + random() % 64 * 64;
        ListedReference made = random() % 2 ? load(address, 20, {}, uint32_t(page))
                                            : store(address, 20, {}, uint32_t(page));
        threads[i % 2].push_back(made);
    }
    machine.finish(2);
    FramesConfig frames;
    frames.node_bytes = machine.node_bytes;
    std::vector<FixedMemory> memories;
    for (uint32_t tier = 0; tier < machine.node_bytes.size(); tier++)
        memories.emplace_back(60'000 * (tier + 1), 3'000 + 6'000 * tier, 9 + 10 * tier);
    Placement placement(frames, std::make_unique<Scripted>(std::move(script)));
    std::vector<ListSource> sources;
    for (auto &thread : threads)
        sources.emplace_back(thread);
    asked.clear();
    System<ListSource, Recording, FixedMemory> system(machine.config, placement, memories, sources,
                                                      {0, 1});
    system.run([](uint64_t, Ps) {});

    std::sort(asked.begin(), asked.end(), [](const Asked &a, const Asked &b) {
        return a.at != b.at ? a.at < b.at : a.number < b.number;
    });
    Shadow shadow;
    for (const Asked &each : asked)
        shadow.see(each.demand);
    expect_true(shadow.on_way.empty());
    expect_le(count / 4, shadow.checked);

    Outcome outcome{system.migrations()};
    uint64_t read = 0, wrote = 0, resident = 0;
    for (uint32_t tier = 0; tier < machine.node_bytes.size(); tier++) {
        uint64_t mine = 0;
        for (const TierUse &use : system.router().use(tier)) {
            read += use.read[unsigned(Purpose::migration)];
            wrote += use.write[unsigned(Purpose::migration)];
            mine +=
                use.read[unsigned(Purpose::migration)] + use.write[unsigned(Purpose::migration)];
        }
        (tier == 0 ? outcome.near : outcome.far) += mine;
        expect_le(placement.statistics().pages[tier], machine.node_bytes[tier] / page_bytes);
        resident += placement.statistics().pages[tier];
    }
    expect_eq(read, outcome.migrations.pages * page_bytes);
    expect_eq(wrote, outcome.migrations.pages * page_bytes);
    std::set<std::pair<uint32_t, uint64_t>> places;
    for (const PageUse &use : all_uses(placement)) {
        const Placement::Where where = placement.look(use.page * page_bytes);
        expect_true(!where.busy);
        places.insert({where.place.node, where.place.address});
    }
    expect_eq(places.size(), placement.pages());
    expect_eq(resident, placement.pages());
    return outcome;
}

} // namespace

TEST(every_page_has_one_frame_whatever_moves) {
    for (uint64_t seed = 0; seed < 20; seed++) {
        std::mt19937_64 random(seed);
        const std::vector<uint64_t> sizes = {40, 60, seed % 2 ? 100u : 45u};
        Placement placement = table(sizes);
        for (uint64_t page = 0; page < 145; page++)
            placement.find(page * 977 * page_bytes, 0, 0, 0);
        std::vector<std::vector<PageCopy>> open;
        uint64_t begun = 0;
        for (int step = 0; step < 400; step++) {
            std::vector<PageCopy> copies;
            const Operation operation = anything(random, placement, 2, 3)[random() % 2];
            if (placement.begin(operation, copies)) {
                open.push_back(copies);
                begun++;
            }
            if (open.size() > 4 || random() % 3 == 0) {
                for (; !open.empty() && random() % 4; open.erase(open.begin()))
                    placement.finish(open[0]);
            }
            // Frames: of pages, and those that copies hold beside.
            std::set<std::pair<uint32_t, uint64_t>> places;
            std::vector<uint64_t> taken(3, 0);
            const auto hold = [&](const Place &place) {
                expect_true(places.insert({place.node, place.address}).second);
                expect_lt(place.address, sizes[place.node] * page_bytes);
                taken[place.node]++;
            };
            for (const PageUse &use : all_uses(placement))
                hold(placement.look(use.page * page_bytes).place);
            for (const auto &each : open)
                for (const PageCopy &copy : each)
                    if (copy.other == PageCopy::no_page)
                        hold(copy.to);
            for (uint32_t tier = 0; tier < 3; tier++)
                expect_eq(placement.frames().free_pages(tier), sizes[tier] - taken[tier]);
        }
        expect_lt(50u, begun);
    }
}

TEST(pages_change_places_in_full_memory_and_move_alone_only_into_free_frames) {
    Placement placement = table({1, 2});
    for (uint64_t page : {1, 3, 6}) // 3 and 6 go to tier 1
        placement.find(page * page_bytes, 0, 0, 0);
    std::vector<PageCopy> copies;
    expect_true(!placement.begin({{3, 0}}, copies));
    expect_true(!placement.begin({{3, 0}, {3, 0}}, copies)); // a page can't be moved twice
    expect_true(!placement.begin({{3, 1}}, copies));         // is there
    expect_true(!placement.begin({{7, 0}}, copies));         // was never touched
    expect_true(placement.begin({{3, 0}, {1, 1}}, copies));
    expect_true(placement.look(3 * page_bytes).busy && placement.look(page_bytes).busy);
    expect_true(!placement.look(6 * page_bytes).busy);
    std::vector<PageCopy> second;
    expect_true(!placement.begin({{6, 0}, {1, 1}}, second)); // 1 is on its way
    placement.finish(copies);
    expect_eq(placement.use(3)->tier, 0u);
    expect_eq(placement.use(1)->tier, 1u);
}

TEST(data_follow_their_page) {
    uint64_t moved = 0, held = 0;
    for (uint64_t seed = 0; seed < 12; seed++) {
        Machine machine;
        const bool full = seed % 3 == 0; // nothing free: pages change places
        machine.node_bytes = {16 * page_bytes, 20 * page_bytes, (full ? 12 : 40) * page_bytes};
        auto random = std::make_shared<std::mt19937_64>(seed);
        Scripted script;
        script.given = rules(20'000'000 + 1'000'000 * seed);
        script.at_epoch = [random](const Placement &placement) {
            return anything(*random, placement, 8, 3);
        };
        const Outcome outcome = shaken(seed, script, machine, 48, 12'000);
        expect_lt(2u, outcome.migrations.epochs);
        moved += outcome.migrations.pages;
        held += outcome.migrations.held;
    }
    expect_lt(300u, moved);
    expect_lt(300u, held);
}

TEST(a_threshold_moves_blocks_of_many_pages_at_once) {
    Machine machine;
    machine.node_bytes = {64 * page_bytes, 64 * page_bytes};
    Scripted script;
    script.given = rules(0, 3);
    // The aligned 16 KiB come near, and as many pages go that lie elsewhere.
    script.at_threshold = [](const PageUse &use, const Placement &placement) {
        expect_le(3u, use.accesses); // others may have come in the meantime
        expect_eq(use.tier, 1u);
        Operation operation;
        for (uint64_t page = use.page / 4 * 4; page < use.page / 4 * 4 + 4; page++)
            operation.push_back({page, 0});
        uint64_t leaving = 0;
        for (const PageUse &other : all_uses(placement))
            if (other.tier == 0 && other.page / 4 != use.page / 4 && leaving++ < 4)
                operation.push_back({other.page, 1});
        return std::vector<Operation>{operation};
    };
    const Outcome outcome = shaken(3, script, machine, 60, 12'000);
    expect_lt(20u, outcome.migrations.operations);
    expect_lt(2 * outcome.migrations.operations, outcome.migrations.pages);
    expect_eq(outcome.migrations.epochs, 0u);
}

TEST(cores_stand_still_for_a_shootdown) {
    for (bool far_ahead : {false, true}) {
        Machine machine;
        machine.node_bytes = {8 * page_bytes, 8 * page_bytes};
        std::vector<ListedReference> list;
        for (size_t i = 0; i < 4000; i++) // hits, but for two lines; 10 ns or 1 us apart
            list.push_back(load(i % 2 * 3 * page_bytes, far_ahead ? 3999 : 39));
        const auto time = [&](Ps shootdown) {
            machine.finish(1);
            FramesConfig frames;
            frames.node_bytes = machine.node_bytes;
            auto policy = std::make_unique<Scripted>();
            policy->given = rules(5'000'000);
            policy->given.shootdown = shootdown;
            int epoch = 0;
            policy->at_epoch = [&](const Placement &) -> std::vector<Operation> {
                if (epoch++ > 1)
                    return {};
                return std::vector<Operation>(1, Operation{{3, uint32_t(epoch % 2 ? 0 : 1)}});
            };
            std::vector<FixedMemory> memories(2, FixedMemory(100'000, 0));
            Placement placement(frames, std::move(policy));
            std::vector<ListSource> sources;
            sources.emplace_back(list);
            System<ListSource, Flat, FixedMemory> system(machine.config, placement, memories,
                                                         sources, {0});
            system.run([](uint64_t, Ps) {});
            expect_eq(system.migrations().operations, 2u);
            expect_eq(system.migrations().paused, 2 * shootdown);
            return system.time();
        };
        // What waits in the window (32 ns of it) retires meanwhile.
        const Ps longer = time(700'000) - time(0);
        expect_le(2 * 700'000u - 32'000u, longer);
        expect_le(longer, 2 * 700'000u);
    }
}

TEST(hma_brings_hot_pages_near_and_keeps_them_there) {
    Machine machine;
    machine.node_bytes = {8 * page_bytes, 64 * page_bytes};
    machine.policy = "hma";
    machine.policy_config = {{"epoch_ps", 20'000'000u}, {"threshold", 8u}, {"sweep_ps", 0u}};
    std::mt19937_64 random(1);
    std::vector<ListedReference> list;
    for (uint64_t page = 0; page < 64; page++)
        list.push_back(load(page * page_bytes));
    for (size_t i = 0; i < 30'000; i++) { // seven pages of 64 are hot
        const uint64_t page = random() % 8 ? 40 + random() % 7 : random() % 64;
        list.push_back(load(page * page_bytes + random() % 64 * 64, 4));
    }
    machine.config.levels = {{{1024, 4, 64, false}, 1}};
    machine.config.latency = {4000};
    run(machine, {list}, [](auto &system, auto &, auto &placement) {
        for (uint64_t page = 40; page < 47; page++)
            expect_eq(placement.use(page)->tier, 0u);
        expect_le(7u, system.migrations().operations);
        // Seven come near; after that what is hot is there, and little moves.
        expect_lt(system.migrations().operations, 30u);
        const TierUse &near = system.router().use(0)[0], &far = system.router().use(1)[0];
        expect_lt(3 * far.read[0], near.read[0]);
    });
}

TEST(what_hma_can_not_do_is_said) {
    for (const nlohmann::json &bad :
         std::vector<nlohmann::json>{nlohmann::json::object(),
                                     {{"epoch_ps", 0u}},
                                     {{"epoch_ps", 1'000'000u}, {"bytes", 12288u}},
                                     {{"epoch_ps", 1'000'000u}, {"copiers", 0u}},
                                     {{"epoch_ps", 1'000'000u}, {"start", "hma"}},
                                     {{"epoch_ps", 1'000'000u}, {"start", "nothing"}}}) {
        std::string said;
        try {
            make_policy("hma", {bad, {}, 2, 0});
        } catch (const ConfigError &error) {
            said = error.what();
        }
        expect_true(!said.empty());
    }
}
