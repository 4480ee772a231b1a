// Part of Memory (Sim et al. 2014, as Ryoo 2017, section 4.1.2, has it): segments of 2 KiB in
// congruence groups of one near and some far places.  A group has one counter, for which its far
// segments compete with the near one: a read of the segment that is counted counts up, one of the
// near segment counts down, one of another far segment too, or takes the counter over at zero.
// Beyond the threshold the counted segment and the near one change places, line by line.
//
// A group's entry (where its segments are, the counter, whose it is) lies in near memory, and as
// many as fit in a cache on the chip: a miss reads 64 bytes of entries, and writes back those that
// it displaces, since each access changes one.
//
// What the caches write back counts like a read.
//
// options: "threshold": a segment's lines (32), what a swap reads from far memory; "cache_bytes"
// on the chip (65536).
#pragma once
#include "simulator/organisation/access_counts.h"
#include "simulator/organisation/groups.h"
#include "simulator/organisation/steps.h"

namespace thermocline {

template <class Router> class Pom {
  public:
    static void reserve(const OrganisationConfig &config, std::vector<uint64_t> &node_bytes) {
        FlatSpace::check(config);
        FlatSpace::reserve(config, node_bytes, reserved(config));
    }

    Pom(const OrganisationConfig &config, Router &router)
        : space_(config, FlatSpace::near_bytes(config, reserved(config))),
          near_segments_(space_.near_lines() / lines),
          groups_(near_segments_,
                  1 + (space_.far_lines() / lines + near_segments_ - 1) / near_segments_,
                  config.sockets),
          entry_bytes_(entry_bytes(config)), threshold_(config.options.value("threshold", lines)),
          tags_(std::max<uint64_t>(config.options.value("cache_bytes", uint64_t(65536)) / 64, 1)),
          counters_(near_segments_ * config.sockets), steps_(space_, router), router_(router) {
        if (threshold_ < 1 || threshold_ > greatest)
            throw ConfigError("organisation.threshold: give 1 to 63, as the counter has six bits");
    }

    void demand(const Demand &demand, Ps at) {
        const uint32_t socket = space_.socket(demand);
        const uint64_t line = space_.line(demand), segment = line / lines;
        const uint64_t group = groups_.group(segment), member = groups_.member(segment);
        const uint64_t place = groups_.place(socket, group, member);
        Step step;
        step.demand = demand;
        step.key = group * lines + line % lines;
        step.slot[0] = groups_.number(group, place) * lines + line % lines;
        step.line[0] = line;
        served_.count(demand, place == 0);
        find_entry(demand, socket, group, step, at);
        steps_.add(step, at);
        if (demand.purpose != Purpose::migration && reached(socket, group, member, place))
            swap(demand, socket, group, member, at);
    }
    Answer completed(uint64_t token, Ps at) { return steps_.completed(token, at); }

    nlohmann::json statistics() const {
        nlohmann::json all = steps_.json();
        served_.add_to(all);
        all["segments_swapped"] = swaps_;
        all["entry_misses"] = misses_;
        all["metadata_bytes"] = near_segments_ * entry_bytes_ * space_.sockets();
        return all;
    }

  private:
    static constexpr uint32_t lines = 32, greatest = 63; // of a segment; of the counter
    struct Counter {
        uint8_t member = 0, count = 0;
    };

    static uint64_t entry_bytes(const OrganisationConfig &config) {
        const uint64_t members = FlatSpace::members(config);
        const uint64_t bits = (members + 1) * FlatSpace::entry_bits(members) + 6;
        return std::bit_ceil((bits + 7) / 8);
    }
    static uint64_t reserved(const OrganisationConfig &config) {
        const uint64_t segments = config.node_bytes[0] / (lines * memory_line_bytes);
        const uint64_t bytes = segments * entry_bytes(config);
        return (bytes + FlatSpace::page - 1) / FlatSpace::page * FlatSpace::page;
    }

    // The entry comes from the chip, or has to be looked up first.
    void find_entry(const Demand &demand, uint32_t socket, uint64_t group, Step &step, Ps at) {
        const uint64_t each = std::max<uint64_t>(64 / entry_bytes_, 1);
        const uint64_t bytes = std::max<uint64_t>(entry_bytes_, 64);
        const uint64_t block = (group / each) * space_.sockets() + socket;
        uint64_t &tag = tags_[block % tags_.size()];
        if (tag == block + 1)
            return;
        misses_++;
        if (tag != 0)
            router_.send({uint32_t((tag - 1) % space_.sockets()),
                          entries_at() + (tag - 1) / space_.sockets() * bytes, nobody,
                          uint32_t(bytes), demand.owner, true, Purpose::writeback},
                         at);
        tag = block + 1;
        step.lookup.node = socket;
        step.lookup.address = entries_at() + group / each * bytes;
        step.lookup.bytes = uint32_t(bytes);
        step.lookup.entries = 1;
    }
    uint64_t entries_at() const { return space_.near_lines() * memory_line_bytes; }

    // Whether the segment has earned the near place.
    bool reached(uint32_t socket, uint64_t group, uint64_t member, uint64_t place) {
        Counter &counter = counters_[socket * near_segments_ + group];
        if (place != 0 && (counter.count == 0 || counter.member == member)) {
            counter.member = uint8_t(member);
            counter.count += counter.count < greatest;
            if (counter.count >= threshold_) {
                counter.count = 0;
                return true;
            }
        } else if (counter.count > 0) {
            counter.count--;
        }
        return false;
    }

    void swap(const Demand &demand, uint32_t socket, uint64_t group, uint64_t member, Ps at) {
        const uint64_t from = groups_.number(group, groups_.place(socket, group, member));
        const uint64_t leaves = groups_.number(group, groups_.resident(socket, group));
        Step step;
        step.demand = demand;
        step.demand.token = nobody;
        step.demand.write = false;
        step.demand.purpose = Purpose::migration;
        step.count = 2;
        for (uint64_t line = 0; line < lines; line++) {
            step.key = group * lines + line;
            step.slot = {from * lines + line, group * lines + line};
            step.line = {groups_.number(group, member) * lines + line, leaves * lines + line};
            steps_.add(step, at);
        }
        groups_.swap(socket, group, member);
        swaps_++;
    }

    const FlatSpace space_;
    const uint64_t near_segments_;
    Groups groups_;
    const uint64_t entry_bytes_;
    const uint32_t threshold_;
    std::vector<uint64_t> tags_; // blocks of entries that are on the chip; 0: none
    std::vector<Counter> counters_;
    Steps<Router> steps_;
    Router &router_;
    AccessCounts served_;
    uint64_t swaps_ = 0, misses_ = 0;
};

} // namespace thermocline
