// Replacement that weighs lines of translation against data, against a slow and obvious model.
#include "check.h"
#include "simulator/caches/hierarchy.h"
#include <algorithm>
#include <list>
#include <random>

using namespace thermocline;

namespace {

constexpr uint32_t ways = 8, sets = 4;

Hierarchy one_level() { return Hierarchy({{{uint64_t(ways) * sets * 64, ways, 64, false}, 1}}, 1); }

struct Model {
    double share;
    std::list<uint64_t> set[sets]; // lines, the last one used in front
    static bool is_translation(uint64_t line) { return Kept::holds(line * 64); }

    bool refer(uint64_t line) {
        std::list<uint64_t> &here = set[line % sets];
        for (auto at = here.begin(); at != here.end(); ++at)
            if (*at == line) {
                here.splice(here.begin(), here, at);
                return true;
            }
        if (here.size() == ways) {
            const auto kept = std::count_if(here.begin(), here.end(), is_translation);
            auto goes = std::prev(here.end());
            if (is_translation(*goes) && double(kept) <= share * ways) {
                auto data = goes;
                while (data != here.begin() && is_translation(*data))
                    --data;
                if (!is_translation(*data))
                    goes = data;
            }
            here.erase(goes);
        }
        here.push_front(line);
        return false;
    }
};

// Hits of data and of translation.
std::pair<int, int> compare(double share) {
    Hierarchy caches = one_level();
    caches.keep_translation(share);
    Model model{share, {}};
    std::mt19937_64 random(1);
    int hits[2] = {};
    for (int i = 0; i < 50'000; i++) {
        const bool translation = random() % 3 == 0;
        const uint64_t line = translation ? Kept::first / 64 + random() % 24 : random() % 64;
        Writebacks out;
        const bool hit = caches.refer(0, line, false, 0, out) == 0;
        expect_eq(hit, model.refer(line));
        hits[translation] += hit;
        expect_eq(out.count, 0u);
    }
    return {hits[0], hits[1]};
}

} // namespace

TEST(translation_is_kept_as_far_as_its_share_goes) {
    const auto none = compare(0), some = compare(0.25), half = compare(0.5), all = compare(0.99);
    expect_lt(none.second, some.second);
    expect_lt(some.second, half.second);
    expect_lt(half.second, all.second);
    expect_lt(all.first, half.first); // data pay
    expect_lt(half.first, none.first);
}

TEST(dirty_data_that_go_in_place_of_translation_are_written_back) {
    Hierarchy caches = one_level();
    caches.keep_translation(0.5);
    Writebacks out;
    const uint64_t table = Kept::first / 64;
    caches.refer(0, table, false, 0, out);
    for (uint64_t line = 1; line < ways; line++)
        caches.refer(0, line * sets, true, 0, out);
    expect_eq(out.count, 0u);
    caches.refer(0, ways * sets, false, 0, out); // the table was used longest ago
    expect_eq(out.count, 1u);
    expect_eq(out.line[0].line(), uint64_t(sets));
    expect_eq(caches.refer(0, table, false, 0, out), 0u);
}
