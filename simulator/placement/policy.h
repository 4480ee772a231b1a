// Which tier a page should come from, decided when it is first touched, and for policies that
// migrate, which pages move later.  A policy is one file with a class like this and one line in
// registry.cpp.
#pragma once
#include "simulator/placement/frames.h"
#include "simulator/time.h"
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

namespace thermocline {

class Placement;

struct Touch {
    uint64_t page; // number: address / page_bytes
    uint32_t owner, thread, socket;
};

// What is known of a page.
struct PageUse {
    uint64_t page;
    uint32_t tier, owner;
    uint32_t accesses; // lines read from memory since it moved, or since the epoch began
    bool busy;         // it is being moved
};

// Pages that change tiers together, which is one TLB shootdown.  Pages of which one leaves the
// tier that the other goes to change places; the others need free frames.
struct PageMove {
    uint64_t page;
    uint32_t tier;
};
using Operation = std::vector<PageMove>;

// What the kernel does next for a page that was touched in far memory.
struct FaultStep {
    Operation operation; // empty: nothing until another one has ended
    Ps work = 0;         // the kernel's, before it copies
    Ps shootdown = 0;    // every core stands still so long
    uint64_t about = 0;  // the policy's own, for done()
};

// When a policy is asked, and what migration costs (docs/simulator.md).
struct MigrationRules {
    bool faults = false;    // a demand of a page outside tier 0 waits until it is there; fault()
    uint64_t warm = 0;      // moves before so many references cost nothing
    Ps epoch = 0;           // the length of one; 0: epoch() is never called
    uint32_t threshold = 0; // reached() at so many accesses of a page outside tier 0; 0: never
    Ps operation = 0;       // the kernel's work for one, before it copies
    Ps shootdown = 0;       // every core stands still so long for each operation
    Ps sweep = 0;           // the kernel's work for each page at an epoch's end
    uint32_t copiers = 1;   // operations at a time
    uint32_t lines = 16;    // that a copier has on their way at a time
};

class PlacementPolicy {
  public:
    virtual ~PlacementPolicy() = default;
    virtual uint32_t tier(const Touch &touch, const Frames &frames) = 0;
    // Whose memory the page comes from while that has room.
    virtual uint32_t socket(const Touch &touch, uint32_t /*sockets*/) { return touch.socket; }

    // Of policies that migrate.  Operations are done in order; at an epoch's end those that have
    // not begun are forgotten.
    virtual MigrationRules rules() const { return {}; }
    virtual std::vector<Operation> epoch(const Placement &) { return {}; }
    virtual std::vector<Operation> reached(const PageUse &, const Placement &) { return {}; }

    // Of policies with faults: asked again after each operation until the page is near.
    virtual FaultStep fault(uint64_t, Placement &, Ps) { return {}; }
    virtual void warmed() {}                   // what follows costs time
    virtual void done(uint64_t, Ps) {}         // FaultStep::about, and how long it took
    virtual nlohmann::json statistics() const; // null, if there are none
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
