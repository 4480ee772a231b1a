// All memory is the operating system's: a line is where its frame is.
#pragma once
#include "simulator/organisation/demand.h"

namespace thermocline {

template <class Router> class Flat {
  public:
    static void reserve(const OrganisationConfig &, std::vector<uint64_t> &) {}

    Flat(const OrganisationConfig &, Router &router) : router_(router) {}

    void demand(const Demand &demand, Ps at) {
        router_.send({demand.node, demand.address, demand.token, memory_line_bytes, demand.owner,
                      demand.write, demand.purpose},
                     at);
    }
    Answer completed(uint64_t token, Ps at) { return {token, at}; }
    nlohmann::json statistics() const { return nlohmann::json::object(); }

  private:
    Router &router_;
};

} // namespace thermocline
