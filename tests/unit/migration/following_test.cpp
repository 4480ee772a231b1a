// What follows an mremap, against a plain map of pages, on random changes read in between.
#include "check.h"
#include "migration/engine/following.h"
#include <map>
#include <random>
#include <vector>

using namespace tc;

namespace {

constexpr uint64_t page = 4096, region = 1 << 21;

std::map<uint64_t, uint64_t> pages_of(const Following &following) {
    std::map<uint64_t, uint64_t> places; // by shadow
    following.each([&](const Follower &follower) {
        for (uint64_t at = 0; at < follower.bytes; at += page)
            expect_true(places.emplace(follower.shadow + at, follower.place + at).second);
    });
    return places;
}

void random_changes(uint64_t seed) {
    std::vector<Follower> room(Following::most);
    Following following;
    following.prepare(room.data());
    std::map<uint64_t, uint64_t> expected;
    std::mt19937_64 random(seed);
    const auto pick = [&](uint64_t below) { return random() % below; };
    uint64_t shadow = region;
    for (int step = 0; step < 400; step++) {
        const uint64_t from = pick(256) * page, bytes = (1 + pick(32)) * page;
        if (const uint64_t what = pick(3); what == 0) { // more that is aside
            for (uint64_t at = 0; at < bytes; at += page, shadow += page) {
                expect_true(following.add({shadow, from + at, page}, region));
                expected[shadow] = from + at;
            }
            shadow += pick(2) * region;
        } else if (what == 1) { // to a place that can't overlap
            const uint64_t to = from + (pick(2) ? 64 * page : bytes);
            expect_true(following.moved(from, to, bytes));
            for (auto &[at, place] : expected)
                if (from <= place && place < from + bytes)
                    place += to - from;
        } else {
            expect_true(following.removed(from, from + bytes, [&](uint64_t at, uint64_t count) {
                for (; count > 0; count -= page, at += page) {
                    const uint64_t place = expected.at(at);
                    expect_true(from <= place && place < from + bytes);
                    expected.erase(at);
                }
            }));
            for (const auto &[at, place] : expected)
                expect_true(!(from <= place && place < from + bytes));
        }
        expect_true(pages_of(following) == expected);
    }
}

} // namespace

TEST(following_knows_every_page_through_random_changes) {
    for (uint64_t seed = 1; seed <= 50; seed++)
        random_changes(seed);
}

TEST(unmaps_are_taken_once) {
    Following following;
    following.expect_unmap(1, 5);
    following.expect_unmap(1, 5);
    expect_true(!following.takes_unmap(1, 4));
    expect_true(following.takes_unmap(1, 5) && following.takes_unmap(1, 5));
    expect_true(!following.takes_unmap(1, 5) && !following.expects());
    following.expect_unmap(2, 3); // MREMAP_DONTUNMAP: it never comes
    following.expect_none();
    expect_true(!following.takes_unmap(2, 3));
}
