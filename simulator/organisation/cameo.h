// CAMEO (Chou, Jaleel and Qureshi 2014, as Ryoo 2017, section 4.1.2, has it): lines of 64 bytes in
// congruence groups of one near and some far places.  A line that is read from far memory changes
// places with the one that is near.  Where a group's lines are stands beside its near line, and
// one read fetches both.  A predictor, for each core 256 entries by the instruction, says where
// the instruction found its last line: if that is far, far memory is read together with the near
// one.  A wrong guess is read for nothing.
//
// What the caches write back goes where the line is, and moves nothing.
//
// options: "prefetch": so many following lines of the page are fetched with each line that comes
// from far memory (0; the thesis' CAMEO-P: 3), "predictor": "on" or "off", "row_bytes" of near
// memory (2048), "split": while near memory serves more than this share of the reads, nothing
// moves (1: always; Ryoo 2017, Figure 5.5), "entry_bytes" that stand beside a line (as many as the
// group needs; 0: in the error-correcting bits, for nothing).
#pragma once
#include "simulator/organisation/access_counts.h"
#include "simulator/organisation/groups.h"
#include "simulator/organisation/silc_tables.h"
#include "simulator/organisation/steps.h"

namespace thermocline {

template <class Router> class Cameo {
  public:
    static void reserve(const OrganisationConfig &config, std::vector<uint64_t> &node_bytes) {
        FlatSpace::check(config);
        FlatSpace::reserve(config, node_bytes, reserved(config));
    }

    Cameo(const OrganisationConfig &config, Router &router)
        : space_(config, FlatSpace::near_bytes(config, reserved(config)), layout(config)),
          groups_(space_.near_lines(),
                  1 + (space_.far_lines() + space_.near_lines() - 1) / space_.near_lines(),
                  config.sockets),
          prefetch_(config.options.value("prefetch", 0u)), predicts_(feature(config, "predictor")),
          entry_bytes_(entry_bytes(config)), rate_(split(config)), steps_(space_, router),
          last_(size_t(config.cores) * entries) {
        if (prefetch_ >= FlatSpace::page / memory_line_bytes)
            throw ConfigError("organisation.prefetch: give less than a page's 64 lines");
    }

    void demand(const Demand &demand, Ps at) {
        const uint64_t line = space_.line(demand);
        moves_ = moves(demand) && !rate_.above();
        const bool near = serve(demand, line, at);
        if (!moves_ || near)
            return;
        Demand ahead = demand;
        ahead.token = nobody;
        ahead.purpose = Purpose::migration;
        for (uint64_t i = 1; i <= prefetch_; i++) {
            if ((demand.address / memory_line_bytes + i) % (FlatSpace::page / 64) == 0)
                break;
            fetched_ += !serve(ahead, line + i, at, true);
        }
    }
    Answer completed(uint64_t token, Ps at) { return steps_.completed(token, at); }

    nlohmann::json statistics() const {
        nlohmann::json all = steps_.json();
        served_.add_to(all);
        all["prefetched_lines"] = fetched_;
        all["predictions"] = predictions_;
        all["right_predictions"] = right_;
        all["metadata_bytes"] = space_.near_lines() * entry_bytes_ * space_.sockets();
        return all;
    }

  private:
    static constexpr uint32_t entries = 256; // of the predictor, a core's

    static uint32_t entry_bytes(const OrganisationConfig &config) {
        // Where each member is.
        const uint64_t members = FlatSpace::members(config);
        const uint64_t bits = members * FlatSpace::entry_bits(members);
        return config.options.value("entry_bytes", uint32_t((bits + 7) / 8));
    }
    static double split(const OrganisationConfig &config) {
        const double share = config.options.value("split", 1.0);
        if (!(share > 0 && share <= 1))
            throw ConfigError("organisation.split: give a share above 0, at most 1");
        return share;
    }
    static NearLayout layout(const OrganisationConfig &config) {
        NearLayout made;
        made.row_bytes = config.options.value("row_bytes", uint64_t(2048));
        made.unit_bytes = uint32_t(memory_line_bytes) + entry_bytes(config);
        made.units = made.row_bytes / made.unit_bytes;
        if (made.units == 0 || made.row_bytes > config.node_bytes[0])
            throw ConfigError("organisation.row_bytes: a row holds a line and its entry at least, "
                              "and near memory a row");
        return made;
    }
    static uint64_t reserved(const OrganisationConfig &config) {
        const NearLayout rows = layout(config);
        return config.node_bytes[0] -
               config.node_bytes[0] / rows.row_bytes * rows.units * memory_line_bytes;
    }
    static bool moves(const Demand &demand) {
        return !demand.write && demand.purpose != Purpose::migration;
    }

    // One line, for a demand or ahead of it; whether it was near.
    bool serve(const Demand &demand, uint64_t line, Ps at, bool ahead = false) {
        const uint32_t socket = space_.socket(demand);
        const uint64_t group = groups_.group(line), member = groups_.member(line);
        const uint64_t place = groups_.place(socket, group, member);
        const bool near = place == 0, moving = ahead || moves_;
        Step step;
        step.demand = demand;
        step.key = group;
        step.slot[0] = groups_.number(group, place);
        step.line[0] = line;
        if (!ahead) {
            served_.count(demand, near);
            if (moves(demand))
                rate_.count(near);
            if (!demand.write)
                guess(demand, place, group, step);
        }
        if (!near && moving) {
            step.count = 2;
            step.slot[1] = group;
            step.line[1] = groups_.number(group, groups_.resident(socket, group));
            step.serial = !step.early; // the entry comes with the near line
            step.early = false;
            groups_.swap(socket, group, member);
        } else if (demand.write || !near) { // the entry alone is wanted
            step.lookup.node = socket;
            step.lookup.address = space_.address(group);
            step.lookup.bytes = space_.bytes(group);
            step.lookup.entries = 1;
        }
        steps_.add(step, at);
        return near;
    }

    // The entry learns at once what will turn out.
    void guess(const Demand &demand, uint64_t place, uint64_t group, Step &step) {
        if (!predicts_)
            return;
        const uint32_t hash = demand.instruction ^ demand.instruction >> 8 ^
                              demand.instruction >> 16 ^ demand.instruction >> 24;
        uint8_t &last = last_[size_t(demand.core) * entries + hash % entries];
        predictions_++;
        right_ += last == place;
        const uint64_t slot = groups_.number(group, last);
        if (last != 0 && last != place && slot < space_.near_lines() + space_.far_lines())
            step.wasted = slot;
        step.early = last != 0 && last == place;
        last = uint8_t(place);
    }

    const FlatSpace space_;
    Groups groups_;
    const uint32_t prefetch_;
    const bool predicts_;
    const uint32_t entry_bytes_;
    AccessRate rate_;
    bool moves_ = false; // lines move for the demand that is being served
    Steps<Router> steps_;
    std::vector<uint8_t> last_; // place, by core
    AccessCounts served_;
    uint64_t fetched_ = 0, predictions_ = 0, right_ = 0;
};

} // namespace thermocline
