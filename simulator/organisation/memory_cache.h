// Near memory, or a share of it, as a direct-mapped cache of far memory: KNL's cache and hybrid
// modes (tags in the ECC bits), and Optane's Memory Mode.  What is no cache is ordinary memory.
//
// options: "share" of near memory that is cache (1), "lookup": "serial" (far memory is read once
// the tag is known) or "parallel" (at the same time), "blocks": "on" also counts what a cache of
// larger blocks would miss (block_sizes.h; "off").
#pragma once
#include "simulator/memory/config.h"
#include "simulator/organisation/block_sizes.h"
#include "simulator/organisation/near_cache.h"
#include <optional>

namespace thermocline {

template <class Router> class MemoryCache {
  public:
    static void reserve(const OrganisationConfig &config, std::vector<uint64_t> &node_bytes) {
        const double share = config.options.value("share", 1.0);
        if (!(share > 0 && share <= 1))
            throw ConfigError("organisation.share: give a share of near memory above 0, at most 1");
        if (node_bytes.size() <= config.sockets)
            throw ConfigError("a cache in near memory needs a second tier behind it");
        for (uint32_t socket = 0; socket < config.sockets; socket++)
            node_bytes[socket] -= cache_bytes(config);
    }

    MemoryCache(const OrganisationConfig &config, Router &router)
        : sockets_(config.sockets), base_(config.node_bytes[0] - cache_bytes(config)),
          cache_(cache_bytes(config) / memory_line_bytes, memory_line_bytes, sockets_, router) {
        const std::string lookup = config.options.value("lookup", "serial");
        if (lookup != "serial" && lookup != "parallel")
            throw ConfigError("organisation.lookup is '" + lookup + "': give serial or parallel");
        parallel_ = lookup == "parallel";
        const std::string blocks = config.options.value("blocks", "off");
        if (blocks != "on" && blocks != "off")
            throw ConfigError("organisation.blocks is '" + blocks + "': give on or off");
        if (blocks == "on")
            blocks_.emplace(cache_bytes(config), sockets_);
    }

    void demand(const Demand &demand, Ps at) {
        if (demand.node < sockets_) {
            cache_.direct(demand, at);
            return;
        }
        if (blocks_)
            blocks_->demand(demand.node % sockets_, cache_.line(demand));
        cache_.demand(demand, base_ + cache_.set(demand) * memory_line_bytes, parallel_, at);
    }
    Answer completed(uint64_t token, Ps at) { return cache_.completed(token, at); }
    nlohmann::json statistics() const {
        nlohmann::json all = cache_.statistics();
        if (blocks_)
            all["blocks"] = blocks_->json();
        return all;
    }

  private:
    static uint64_t cache_bytes(const OrganisationConfig &config) {
        const double bytes = double(config.node_bytes[0]) * config.options.value("share", 1.0);
        return std::max(uint64_t(bytes) / 4096 * 4096, uint64_t(4096));
    }

    const uint32_t sockets_;
    const uint64_t base_; // where in each near node the cache begins
    bool parallel_;
    NearCache<Router> cache_;
    std::optional<BlockSizes> blocks_;
};

} // namespace thermocline
