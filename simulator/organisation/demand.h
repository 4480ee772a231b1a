// What reaches an organisation, and what it sends on.  Tier 0 is the near memory.
//
// An organisation is a class over the router:
//   static void reserve(const OrganisationConfig &, std::vector<uint64_t> &node_bytes);
//       takes away what the operating system does not see
//   Organisation(const OrganisationConfig &, Router &)
//   void demand(const Demand &, Ps at)                 sends requests by router.send
//   Answer completed(uint64_t token, Ps at)            one of them is done: a read, or a write with
//                                                      a token, which its memory has taken
// It is one file and one line in registry.h.
#pragma once
#include "simulator/memory/request.h"
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace thermocline {

constexpr uint64_t nobody = UINT64_MAX; // token: nobody waits for it
constexpr uint64_t memory_line_bytes = 64;

// A line that the last cache level reads or writes, at a place that the operating system chose.
struct Demand {
    uint32_t node = 0;    // tier * sockets + socket
    uint64_t address = 0; // in the node
    uint64_t token = nobody;
    uint32_t owner = 0, core = 0, instruction = 0;
    bool write = false;
    Purpose purpose = Purpose::demand;
};

// Whose demand is done, if any, when, and which node had the data.
constexpr uint32_t demanded_node = UINT32_MAX;
struct Answer {
    uint64_t token = nobody;
    Ps at = 0;
    uint32_t node = demanded_node;
};

// A request to a device.
struct Send {
    uint32_t node = 0;
    uint64_t address = 0;
    uint64_t token = nobody; // the organisation's
    uint32_t bytes = memory_line_bytes;
    uint32_t owner = 0;
    bool write = false;
    Purpose purpose = Purpose::demand;
    uint64_t line = nobody; // whose data it carries, if lines move; only tests look
};

struct OrganisationConfig {
    uint32_t sockets = 1, cores = 1;
    std::vector<uint64_t> node_bytes; // whole, before reserve()
    // There are nodes beside the tiers', one a socket, for what the organisation keeps.
    bool own_nodes = false;
    const std::vector<std::string> *owners = nullptr; // the traces': site keys, "(stack)", ...
    nlohmann::json options = nlohmann::json::object();
};

} // namespace thermocline
