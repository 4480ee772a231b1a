// SILC-FM's options, checked; silc_fm.h says what they mean.
#pragma once
#include "simulator/organisation/flat_space.h"

namespace thermocline {

struct SilcOptions {
    uint32_t ways, threshold;
    uint64_t aging;
    double split;
    bool locking, history, predictor, bypass;
    bool counters;                                  // in near memory
    bool serial;                                    // each of a set's entries is a read
    enum Metadata { near, channel, free } metadata; // where entries lie

    explicit SilcOptions(const OrganisationConfig &config)
        : ways(config.options.value("ways", 4u)), threshold(config.options.value("threshold", 50u)),
          aging(config.options.value("aging", uint64_t(1'000'000))),
          split(config.options.value("split", 0.8)), locking(feature(config, "locking")),
          history(feature(config, "history")), predictor(feature(config, "predictor")),
          bypass(feature(config, "bypass")) {
        const std::string where = config.options.value("metadata", "near");
        if (where != "near" && where != "channel" && where != "free")
            throw ConfigError("organisation.metadata is '" + where +
                              "': give near, channel or free");
        metadata = where == "near" ? near : where == "channel" ? channel : free;
        if (metadata == channel && !config.own_nodes)
            throw ConfigError("organisation.metadata_memory is missing: the channel's number");
        const std::string counted = config.options.value("counters", "near");
        if (counted != "near" && counted != "chip")
            throw ConfigError("organisation.counters is '" + counted + "': give near or chip");
        counters = counted == "near";
        const std::string looked = config.options.value("lookup", "serial");
        if (looked != "serial" && looked != "set")
            throw ConfigError("organisation.lookup is '" + looked + "': give serial or set");
        serial = looked == "serial";
        if (ways < 1 || ways > 16)
            throw ConfigError("organisation.ways: give 1 to 16");
        if (threshold < 1 || threshold > 62)
            throw ConfigError("organisation.threshold: give 1 to 62, as counters have six bits");
        if (aging < 1)
            throw ConfigError("organisation.aging: give 1 at least");
        if (!(split > 0 && split <= 1))
            throw ConfigError("organisation.split: give a share above 0, at most 1");
    }
};

} // namespace thermocline
