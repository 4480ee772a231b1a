// The Alloy cache (Qureshi and Loh 2012): all of near memory is a direct-mapped cache whose tag
// and data are one unit of 72 bytes, fetched as one.  As many units lie in a row of near memory
// as fit.  A predictor says whether a read will miss: then far memory is read together with the
// near one, else after it.  MAP-I, the paper's: per core, 256 counters of three bits, found by a
// hash of the instruction; a read that far memory serves counts up, one that near memory serves
// counts down, and the upper half predicts far memory.
//
// options: "row_bytes" of near memory (2048), "predictor": "map-i", "serial" or "parallel".
#pragma once
#include "simulator/memory/config.h"
#include "simulator/organisation/near_cache.h"

namespace thermocline {

template <class Router> class Alloy {
  public:
    static void reserve(const OrganisationConfig &config, std::vector<uint64_t> &node_bytes) {
        if (node_bytes.size() <= config.sockets)
            throw ConfigError("a cache in near memory needs a second tier behind it");
        if (row_bytes(config) < unit_bytes || row_bytes(config) > config.node_bytes[0])
            throw ConfigError("organisation.row_bytes: a row holds 72 bytes at least, and near "
                              "memory a row");
        for (uint32_t socket = 0; socket < config.sockets; socket++)
            node_bytes[socket] = 0;
    }

    Alloy(const OrganisationConfig &config, Router &router)
        : row_bytes_(row_bytes(config)), units_(row_bytes_ / unit_bytes),
          counters_(size_t(config.cores) * counters),
          cache_(config.node_bytes[0] / row_bytes_ * units_, unit_bytes, config.sockets, router) {
        const std::string name = config.options.value("predictor", "map-i");
        if (name != "map-i" && name != "serial" && name != "parallel")
            throw ConfigError("organisation.predictor is '" + name +
                              "': give map-i, serial or parallel");
        predicts_ = name == "map-i";
        always_ = name == "parallel";
    }

    void demand(const Demand &demand, Ps at) {
        const uint64_t set = cache_.set(demand);
        const uint64_t near = set / units_ * row_bytes_ + set % units_ * unit_bytes;
        cache_.demand(demand, near, !demand.write && far_expected(demand), at);
    }
    Answer completed(uint64_t token, Ps at) { return cache_.completed(token, at); }
    nlohmann::json statistics() const {
        nlohmann::json all = cache_.statistics();
        all["predictions"] = predictions_;
        all["right_predictions"] = right_;
        return all;
    }

  private:
    static constexpr uint32_t unit_bytes = 72, counters = 256, greatest = 7;

    static uint64_t row_bytes(const OrganisationConfig &config) {
        return config.options.value("row_bytes", uint64_t(2048));
    }

    // The counter learns at once what will turn out.
    bool far_expected(const Demand &demand) {
        if (!predicts_)
            return always_;
        const uint32_t hash = demand.instruction ^ demand.instruction >> 8 ^
                              demand.instruction >> 16 ^ demand.instruction >> 24;
        uint8_t &counter = counters_[size_t(demand.core) * counters + hash % counters];
        const bool expected = counter > greatest / 2, far = !cache_.holds(demand);
        predictions_++;
        right_ += expected == far;
        if (far && counter < greatest)
            counter++;
        else if (!far && counter > 0)
            counter--;
        return expected;
    }

    const uint64_t row_bytes_, units_;
    std::vector<uint8_t> counters_; // by core
    bool predicts_ = true, always_ = false;
    NearCache<Router> cache_;
    uint64_t predictions_ = 0, right_ = 0;
};

} // namespace thermocline
