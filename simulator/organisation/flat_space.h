// Near and far memory as one space, for organisations whose lines change places in hardware.  A
// socket's near lines have the numbers from 0 on, its far lines those after; a line's number is
// also that of the slot where it is at first.
#pragma once
#include "simulator/memory/config.h"
#include "simulator/organisation/demand.h"
#include <algorithm>
#include <bit>

namespace thermocline {

// How near memory is laid out: `units` of `unit_bytes` in each row, a line and what lies with it.
struct NearLayout {
    uint64_t row_bytes = memory_line_bytes, units = 1;
    uint32_t unit_bytes = memory_line_bytes;
};

class FlatSpace {
  public:
    static constexpr uint64_t page = 4096; // frames are whole

    // `near_bytes`: what the system sees of each near node.
    FlatSpace(const OrganisationConfig &config, uint64_t near_bytes, NearLayout layout = {})
        : sockets_(config.sockets), near_lines_(near_bytes / memory_line_bytes),
          far_lines_(config.node_bytes[config.sockets] / memory_line_bytes), layout_(layout) {}

    // Whether the machine is one for such an organisation.
    static void check(const OrganisationConfig &config) {
        if (config.node_bytes.size() != 2 * size_t(config.sockets))
            throw ConfigError("an organisation that swaps lines needs two tiers, near and far: "
                              "the machine has " +
                              std::to_string(config.node_bytes.size() / config.sockets));
    }
    // Places that share a near one, itself among them.
    static uint64_t members(const OrganisationConfig &config) {
        const uint64_t near = config.node_bytes[0], far = config.node_bytes[config.sockets];
        const uint64_t members = 1 + (far + near - 1) / near;
        if (members > 64) // so that with all that is kept beside the lines they are still below 256
            throw ConfigError("far memory is " + std::to_string(members - 1) +
                              " times near memory: at most 63, give near memory more");
        return members;
    }
    static uint32_t entry_bits(uint64_t members) { return uint32_t(std::bit_width(members - 1)); }
    // So much of each near node is taken away, at least.
    static void reserve(const OrganisationConfig &config, std::vector<uint64_t> &node_bytes,
                        uint64_t bytes) {
        const uint64_t kept = config.node_bytes[0] > bytes ? config.node_bytes[0] - bytes : 0;
        if (kept < page)
            throw ConfigError("near memory of " + std::to_string(config.node_bytes[0]) +
                              " bytes holds no page beside what the organisation keeps there");
        for (uint32_t socket = 0; socket < config.sockets; socket++)
            node_bytes[socket] = kept / page * page;
    }
    static uint64_t near_bytes(const OrganisationConfig &config, uint64_t reserved) {
        return (config.node_bytes[0] - reserved) / page * page;
    }

    uint32_t sockets() const { return sockets_; }
    uint64_t near_lines() const { return near_lines_; }
    uint64_t far_lines() const { return far_lines_; }
    uint32_t socket(const Demand &demand) const { return demand.node % sockets_; }
    uint64_t line(const Demand &demand) const {
        return demand.address / memory_line_bytes + (demand.node < sockets_ ? 0 : near_lines_);
    }
    bool near(uint64_t slot) const { return slot < near_lines_; }
    uint32_t node(uint32_t socket, uint64_t slot) const {
        return near(slot) ? socket : sockets_ + socket;
    }
    // In the node.
    uint64_t address(uint64_t slot) const {
        if (!near(slot))
            return (slot - near_lines_) * memory_line_bytes;
        return slot / layout_.units * layout_.row_bytes + slot % layout_.units * layout_.unit_bytes;
    }
    uint32_t bytes(uint64_t slot) const {
        return near(slot) ? layout_.unit_bytes : uint32_t(memory_line_bytes);
    }

  private:
    const uint32_t sockets_;
    const uint64_t near_lines_, far_lines_;
    const NearLayout layout_;
};

// A feature that can be switched off: "on" or "off".
inline bool feature(const OrganisationConfig &config, const char *name,
                    const char *otherwise = "on") {
    const std::string text = config.options.value(name, otherwise);
    if (text != "on" && text != "off")
        throw ConfigError("organisation." + std::string(name) + " is '" + text +
                          "': give on or off");
    return text == "on";
}

} // namespace thermocline
