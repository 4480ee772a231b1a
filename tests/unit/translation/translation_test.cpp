// Hits of every structure against the slow model, on random references of several cores and
// spaces, with shootdowns; walks' references; and that nobody ever sees a stale translation.
#include "check.h"
#include "reference.h"
#include "simulator/translation/translation.h"
#include <algorithm>
#include <map>
#include <random>
#include <set>

using namespace thermocline;

namespace {

// Remembers what was referred to.
struct Log final : References {
    struct Entry {
        uint64_t address;
        Via via;
    };
    std::vector<Entry> seen;
    Ps passed = 0;
    uint32_t refer(uint64_t address, Via via, Ps) override {
        seen.push_back({address, via});
        return memory_level();
    }
    uint32_t memory_level() const override { return 2; }
    void pass(Ps time) override { passed += time; }
    uint64_t loads() const {
        return uint64_t(std::count_if(seen.begin(), seen.end(),
                                      [](const Entry &each) { return each.via != Via::write; }));
    }
};

TranslationConfig small(bool nested, const char *name, unsigned levels = 4) {
    TranslationConfig made;
    made.on = true;
    made.nested = nested;
    made.levels = levels;
    made.pages.large = 0.4;
    made.pages.huge = 0.2;
    made.first = {BufferConfig{8, 2}, {4, 4}, {2, 1}};
    made.second = {48, 4}; // 12 sets: no power of two
    made.second_huge = {4, 2};
    made.walk_caches = {BufferConfig{}, {8, 4}, {4, 4}, {2, 2}, {1, 1}};
    made.nested_tlb = {12, 4};
    made.name = name;
    made.buffer.bytes = 16384;
    made.spaces = {0, 1, 0};
    return made;
}

constexpr uint32_t cores = 3;

uint64_t random_address(std::mt19937_64 &rng) {
    // A few dense places, far from each other, and everywhere.
    const uint64_t place = (rng() % 5) * 0x1234'4000'0000;
    return rng() % 8 ? place + rng() % (uint64_t(1) << 24) : place + rng() % (uint64_t(1) << 32);
}

struct Model {
    std::vector<reference::Core> core;
    reference::Physical physical;

    explicit Model(const TranslationConfig &config) : physical(config.levels, 2) {
        reference::Shape shape;
        shape.nested = config.nested;
        shape.levels = config.levels;
        for (const BufferConfig &each : config.first)
            shape.first.emplace_back(each.entries, each.ways);
        for (unsigned level = 1; level < config.walk_caches.size(); level++)
            shape.walk_caches.emplace_back(config.walk_caches[level].entries,
                                           config.walk_caches[level].ways);
        shape.second = {config.second.entries, config.second.ways};
        shape.second_huge = {config.second_huge.entries, config.second_huge.ways};
        shape.nested_tlb = {config.nested_tlb.entries, config.nested_tlb.ways};
        for (uint32_t each = 0; each < cores; each++)
            core.emplace_back(shape);
    }
};

void compare(const TranslationConfig &config) {
    Translation translation(config, cores);
    Model model(config);
    const bool shared = config.name == "shared-l2", pom = config.name == "pom",
               tsb = config.name == "tsb";
    reference::Lru shared_second(uint64_t(config.second.entries) * cores, config.second.ways);
    const uint64_t pages = uint64_t(1) << config.coalesce;
    std::vector<reference::Groups> groups(
        shared ? 1 : cores,
        {uint64_t(config.second.entries) * (shared ? cores : 1), config.second.ways, pages});
    const unsigned shift = config.options.value("neighbours", false) ? 2 : 0;
    const uint64_t sets = pom   ? config.buffer.bytes / 64 / 2
                          : tsb ? config.buffer.bytes / 16 / 2
                                : 1;
    reference::Lru buffers[2] = {{pom ? sets * 4 : sets, pom ? 4u : 1u},
                                 {pom ? sets * 4 : sets, pom ? 4u : 1u}};
    Log log;
    std::mt19937_64 rng(config.levels + config.nested);
    // What each page's translation is worth now; changes at each shootdown.
    std::map<reference::Name, uint64_t> frames;
    std::set<uint64_t> retired;
    uint64_t last = 0, together = 0;
    uint64_t buffer_hits = 0, second_misses = 0, stale = 0, wrong = 0;
    for (int i = 0; i < 60'000; i++) {
        const uint32_t core = uint32_t(rng() % cores), space = config.spaces[core];
        // For coalescing, runs of pages: neighbours are then mapped one after the other.
        const uint64_t address = config.coalesce && i % 16 ? last + 4096 : random_address(rng);
        last = address;
        const unsigned size = config.pages.of(address, space);
        const uint64_t number = address >> (12 + 9 * size);
        const reference::Name name{space, size, number};
        if (rng() % 64 == 0) { // somebody moves the page
            const bool known = frames.count(name) > 0;
            translation.shoot_down(space, address);
            if (known) {
                retired.insert(frames[name] | uint64_t(space) << 56);
                frames.erase(name);
                for (reference::Core &each : model.core) {
                    each.first[size].remove(name, number);
                    (size == 2 ? each.second_huge : each.second).remove(name, number);
                    if (config.nested) {
                        const uint64_t there =
                            model.physical.page(space, size, address) >> (12 + 9 * size);
                        each.nested_tlb.remove({space, size, there}, there);
                    }
                }
                shared_second.remove(name, number);
                if (size < 2)
                    for (reference::Groups &each : groups)
                        each.remove(name);
                buffers[size > 0].remove(name, number >> shift ^ space);
            }
            continue;
        }
        const Translation::Answer answer = translation.look_up(core, space, address, log);
        // Stale: a frame that the page had before it moved, or not the page tables' own.
        stale += retired.count(answer.frame | uint64_t(space) << 56);
        wrong += translation.mapped(space, address) != answer.frame + 1;
        const auto [known, fresh] = frames.try_emplace(name, answer.frame);
        wrong += known->second != answer.frame;

        reference::Core &mine = model.core[core];
        if (mine.first[size].find(name, number))
            continue;
        reference::Lru &second = size == 2 ? mine.second_huge
                                 : shared  ? shared_second
                                           : mine.second;
        const bool grouped = config.coalesce && size < 2;
        reference::Groups &group = groups[shared ? 0 : core];
        if (grouped ? !group.find(name) : !second.find(name, number)) {
            second_misses++;
            bool have = false;
            if (pom || tsb) {
                have = buffers[size > 0].find(name, number >> shift ^ space);
                buffer_hits += have;
            }
            if (!have) {
                mine.walk(space, size, address, model.physical);
                if (pom || tsb)
                    buffers[size > 0].insert(name, number >> shift ^ space);
            }
            if (grouped)
                group.insert(name, frames, !have);
            else
                second.insert(name, number);
        }
        mine.first[size].insert(name, number);
    }
    expect_eq(stale, uint64_t(0));
    expect_eq(wrong, uint64_t(0));
    expect_true(translation.shootdowns() > 100);
    expect_true(second_misses > 1000);
    uint64_t missed = 0;
    for (uint32_t core = 0; core < cores; core++) {
        reference::Core &mine = model.core[core];
        for (unsigned size = 0; size < page_sizes; size++) {
            expect_eq(translation.first(core, size).lookups, mine.first[size].lookups);
            expect_eq(translation.first(core, size).hits, mine.first[size].hits);
            expect_true(mine.first[size].hits > 0);
        }
        if (!shared && config.coalesce) {
            expect_eq(translation.second(core).lookups, groups[core].lookups);
            expect_eq(translation.second(core).hits, groups[core].hits);
            missed += groups[core].lookups - groups[core].hits;
        } else if (!shared) {
            expect_eq(translation.second(core).lookups, mine.second.lookups);
            expect_eq(translation.second(core).hits, mine.second.hits);
            missed += mine.second.lookups - mine.second.hits;
        }
        expect_eq(translation.second_huge(core).hits, mine.second_huge.hits);
        missed += mine.second_huge.lookups - mine.second_huge.hits;
        const Walker &walker = translation.walker(core);
        expect_eq(walker.statistics().walks, mine.walks);
        expect_eq(walker.statistics().references, mine.references);
        expect_eq(walker.nested_tlb().statistics().lookups, mine.nested_tlb.lookups);
        expect_eq(walker.nested_tlb().statistics().hits, mine.nested_tlb.hits);
        expect_eq(config.nested, mine.nested_tlb.hits > 0);
        for (unsigned level = 1; level < config.levels; level++) {
            expect_eq(walker.guest_cache(level).statistics().lookups,
                      mine.guest[level - 1].lookups);
            expect_eq(walker.guest_cache(level).statistics().hits, mine.guest[level - 1].hits);
            expect_eq(walker.host_cache(level).statistics().lookups, mine.host[level - 1].lookups);
            expect_eq(walker.host_cache(level).statistics().hits, mine.host[level - 1].hits);
        }
    }
    if (shared && config.coalesce) {
        expect_eq(translation.second(0).lookups, groups[0].lookups);
        expect_eq(translation.second(0).hits, groups[0].hits);
        missed += groups[0].lookups - groups[0].hits;
    } else if (shared) {
        expect_eq(translation.second(0).lookups, shared_second.lookups);
        expect_eq(translation.second(0).hits, shared_second.hits);
        missed += shared_second.lookups - shared_second.hits;
    }
    expect_eq(missed, second_misses);
    for (const reference::Groups &each : groups)
        together += each.together;
    expect_eq(config.coalesce > 0, together > 100);
    if (tsb)
        expect_eq(translation.last().statistics()["hits"].get<uint64_t>(), buffer_hits);
    if (pom) {
        const nlohmann::json said = translation.last().statistics();
        expect_eq(said["small"]["hits"].get<uint64_t>() + said["large"]["hits"].get<uint64_t>(),
                  buffer_hits);
    }
    if (pom || tsb)
        expect_true(buffer_hits > 1000);
}

} // namespace

// Without any cache of the way: one reference a level, and in two dimensions
// (levels + 1) * (levels + 1) - 1 for small pages (Ryoo 2017, chapter 7: up to 24).
TEST(references_of_a_cold_walk) {
    for (const auto &[nested, levels, size, expected] :
         std::vector<std::tuple<bool, unsigned, unsigned, uint64_t>>{{false, 4, 0, 4},
                                                                     {false, 4, 1, 3},
                                                                     {false, 4, 2, 2},
                                                                     {false, 5, 0, 5},
                                                                     {true, 4, 0, 24},
                                                                     {true, 4, 1, 18},
                                                                     {true, 5, 0, 35}}) {
        TranslationConfig config = small(nested, "baseline", levels);
        config.pages.large = size == 1;
        config.pages.huge = size == 2;
        config.walk_caches = {};
        config.nested_tlb = {};
        Translation translation(config, cores);
        Log log;
        translation.look_up(0, 0, 0x1234'5678'9000, log);
        expect_eq(log.loads(), expected);
        expect_eq(translation.walker(0).statistics().most, expected);
    }
}

TEST(what_one_core_walked_another_finds_in_pom) {
    TranslationConfig config = small(false, "pom");
    Translation translation(config, cores);
    Log first, second;
    const uint64_t frame = translation.look_up(0, 0, 0x5000, first).frame;
    expect_eq(translation.look_up(2, 0, 0x5000, second).frame, frame);
    expect_eq(translation.walker(2).statistics().walks, uint64_t(0));
    // The same address of another space is another page.
    Log third;
    expect_true(translation.look_up(1, 1, 0x5000, third).served == ServedBy::missed);
    expect_eq(translation.walker(1).statistics().walks, uint64_t(1));
}

// Lines that POM-TLB is looked up in: one a lookup if the size is foretold, in the caches' reach
// or not, and never outside of its bytes.
TEST(pom_lookups) {
    for (const bool caching : {true, false}) {
        TranslationConfig config = small(false, "pom");
        config.options["caching"] = caching;
        config.pages.large = 1;
        config.pages.huge = 0;
        config.first[1] = config.second = {}; // each reference is a lookup
        Translation translation(config, cores);
        Log log;
        translation.look_up(0, 0, 0x40000000, log); // predicted small: both sizes, then a walk
        const size_t before = log.seen.size();
        expect_eq(log.loads(), uint64_t(2 + 3));
        translation.look_up(0, 0, 0x40000000, log);
        expect_eq(log.seen.size(), before + 1);
        // No cache had it the last time: the predictor passes by.
        expect_true(log.seen.back().via == (caching ? Via::around : Via::memory));
        for (const Log::Entry &each : log.seen)
            if (each.address >= Kept::buffer)
                expect_lt(each.address, Kept::buffer + config.buffer.bytes);
        expect_eq(translation.last().statistics()["size_predictions_right"].get<uint64_t>(),
                  uint64_t(1));
    }
}

// Neighbours that were first touched one after the other have neighbouring frames.
TEST(an_entry_holds_neighbours_whose_frames_are_contiguous) {
    TranslationConfig config = small(false, "baseline");
    config.pages.large = config.pages.huge = 0;
    config.first = {};
    config.second = {4, 4};
    config.coalesce = 2;
    Translation translation(config, cores);
    Log log;
    const auto look = [&](uint64_t page) {
        return translation.look_up(0, 0, page << 12, log).served == ServedBy::second;
    };
    for (uint64_t page : {8, 9, 11}) // 9 follows 8; 11 has the frame that 10 would have
        expect_true(!look(page));
    expect_true(look(8) && look(9) && look(11));
    expect_eq(translation.walker(0).statistics().walks, uint64_t(3));
    // Three other groups: with the two entries of this one, one too many.
    for (uint64_t page : {100, 200, 300})
        expect_true(!look(page));
    expect_true(!look(8)); // its entry was used longest ago
    expect_true(look(9));  // and comes back with both
    translation.shoot_down(0, 8 << 12);
    expect_true(look(9));
    expect_true(!look(8));
    expect_true(look(9) && look(8)); // its new frame is apart: two entries
}

TEST(native_coalescing) {
    for (unsigned coalesce : {1u, 2u, 3u}) {
        TranslationConfig config = small(false, "baseline");
        config.coalesce = coalesce;
        compare(config);
    }
}
TEST(nested_coalescing) {
    for (const char *name : {"baseline", "pom", "shared-l2", "tsb"}) {
        TranslationConfig config = small(true, name);
        config.coalesce = 3;
        compare(config);
    }
}

TEST(native_baseline) { compare(small(false, "baseline")); }
TEST(native_five_levels) { compare(small(false, "baseline", 5)); }
TEST(native_pom) { compare(small(false, "pom")); }
TEST(native_pom_with_neighbours_in_a_set) {
    TranslationConfig config = small(false, "pom");
    config.options["neighbours"] = true;
    compare(config);
}
TEST(native_shared_l2) { compare(small(false, "shared-l2")); }
TEST(native_tsb) { compare(small(false, "tsb")); }
TEST(nested_baseline) { compare(small(true, "baseline")); }
TEST(nested_pom) { compare(small(true, "pom")); }
TEST(nested_shared_l2) { compare(small(true, "shared-l2")); }
TEST(nested_five_levels) { compare(small(true, "baseline", 5)); }
TEST(nested_tsb) { compare(small(true, "tsb")); }
