// Which tier a page should come from, decided when it is first touched.  A policy is one file
// with a class like this and one line in registry.cpp.
#pragma once
#include "simulator/placement/frames.h"
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

namespace thermocline {

struct Touch {
    uint64_t page; // number: address / page_bytes
    uint32_t owner, thread, socket;
};

class PlacementPolicy {
  public:
    virtual ~PlacementPolicy() = default;
    virtual uint32_t tier(const Touch &touch, const Frames &frames) = 0;
};

struct PolicyContext {
    const nlohmann::json &config;           // the policy's own part
    const std::vector<std::string> &owners; // the trace's: site keys, "(stack)", ...
    uint32_t tiers;
    uint64_t seed;
};

// Throws ConfigError if no such policy is registered, or its configuration makes no sense.
std::unique_ptr<PlacementPolicy> make_policy(const std::string &name, const PolicyContext &);
std::vector<std::string> policy_names();

} // namespace thermocline
