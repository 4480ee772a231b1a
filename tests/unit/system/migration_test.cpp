// Pages that migrate: the page table's rules, and on whole machines that data follow their page.
#include "migrating.h"
#include <random>

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

Placement table(const std::vector<uint64_t> &tier_pages, MigrationRules given = rules(1)) {
    FramesConfig frames;
    for (uint64_t pages : tier_pages)
        frames.node_bytes.push_back(pages * page_bytes);
    auto policy = std::make_unique<Scripted>();
    policy->given = given;
    return Placement(frames, std::move(policy));
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
        const uint64_t line = random() % 64;
        threads[i % 2].push_back(touch(page, line, random() % 2 == 0));
    }
    std::vector<FixedMemory> memories;
    for (uint32_t tier = 0; tier < machine.node_bytes.size(); tier++)
        memories.emplace_back(60'000 * (tier + 1), 3'000 + 6'000 * tier, 9 + 10 * tier);
    Outcome outcome;
    asked.clear();
    const auto look = [&](auto &system, auto &, const Placement &placement) {
        expect_le(count / 4, check_data(placement, false));
        outcome.migrations = system.migrations();
        uint64_t read = 0, wrote = 0, resident = 0;
        for (uint32_t tier = 0; tier < machine.node_bytes.size(); tier++) {
            uint64_t mine = 0;
            for (const TierUse &use : system.router().use(tier)) {
                read += use.read[unsigned(Purpose::migration)];
                wrote += use.write[unsigned(Purpose::migration)];
                mine += use.read[unsigned(Purpose::migration)] +
                        use.write[unsigned(Purpose::migration)];
            }
            (tier == 0 ? outcome.near : outcome.far) += mine;
            expect_le(placement.statistics().pages[tier], machine.node_bytes[tier] / page_bytes);
            resident += placement.statistics().pages[tier];
        }
        expect_eq(read, outcome.migrations.pages * page_bytes);
        expect_eq(wrote, outcome.migrations.pages * page_bytes);
        expect_eq(resident, placement.pages());
    };
    run_with<Recording>(machine, std::make_unique<Scripted>(std::move(script)), memories, threads,
                        look);
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
            auto policy = std::make_unique<Scripted>();
            policy->given = rules(5'000'000);
            policy->given.shootdown = shootdown;
            int epoch = 0;
            policy->at_epoch = [&](const Placement &) -> std::vector<Operation> {
                if (epoch++ > 1)
                    return {};
                return std::vector<Operation>(1, Operation{{3, uint32_t(epoch % 2 ? 0 : 1)}});
            };
            const std::vector<FixedMemory> memories(2, FixedMemory(100'000, 0));
            Ps time = 0;
            run_with(machine, std::move(policy), memories, {list},
                     [&](auto &system, auto &, auto &) {
                         expect_eq(system.migrations().operations, 2u);
                         expect_eq(system.migrations().paused, 2 * shootdown);
                         time = system.time();
                     });
            return time;
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
