// What is asked of memory while pages migrate, and memory that knows what was written where.
#pragma once
#include "check.h"
#include "machine.h"
#include <map>
#include <set>

namespace thermocline {

struct Asked {
    Ps at;
    size_t number;
    Demand demand;
};
inline std::vector<Asked> asked;
template <class Router> class Recording : public Flat<Router> {
  public:
    using Flat<Router>::Flat;
    void demand(const Demand &demand, Ps at) {
        asked.push_back({at, asked.size(), demand});
        Flat<Router>::demand(demand, at);
    }
};

// A line is (page, line in it), with the count of its writes as its contents.  Each page has an
// owner of its own in these traces, by which it is known wherever it lies.
struct Shadow {
    using Line = std::pair<uint64_t, uint64_t>;
    std::map<std::pair<uint32_t, uint64_t>, std::pair<Line, uint64_t>> frames; // by place
    std::map<Line, uint64_t> written, on_way;
    bool all_near = false; // no demand is to be served elsewhere
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
            if (all_near && demand.purpose == Purpose::demand)
                expect_eq(demand.node, 0u);
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

inline ListedReference touch(uint64_t page, uint64_t line, bool write, uint32_t gap = 20) {
    const uint64_t address = page * page_bytes + line * 64;
    return write ? store(address, gap, {}, uint32_t(page)) : load(address, gap, {}, uint32_t(page));
}

inline std::vector<PageUse> all_uses(const Placement &placement) {
    std::vector<PageUse> all;
    for (uint32_t tier = 0; tier < placement.frames().tiers(); tier++)
        for (const PageUse &use : placement.uses(tier))
            all.push_back(use);
    expect_eq(all.size(), placement.pages());
    return all;
}

// After a run of Recording: each read found what was written last, and each page has one frame.
// Gives the reads.
inline uint64_t check_data(const Placement &placement, bool all_near) {
    std::sort(asked.begin(), asked.end(), [](const Asked &a, const Asked &b) {
        return a.at != b.at ? a.at < b.at : a.number < b.number;
    });
    Shadow shadow;
    shadow.all_near = all_near;
    for (const Asked &each : asked)
        shadow.see(each.demand);
    expect_true(shadow.on_way.empty());
    std::set<std::pair<uint32_t, uint64_t>> places;
    for (const PageUse &use : all_uses(placement)) {
        const Placement::Where where = placement.look(use.page * page_bytes);
        expect_true(!where.busy);
        places.insert({where.place.node, where.place.address});
    }
    expect_eq(places.size(), placement.pages());
    return shadow.checked;
}

} // namespace thermocline
