// How many of the program's accesses each memory served.
#pragma once
#include "simulator/organisation/demand.h"

namespace thermocline {

struct AccessCounts {
    uint64_t reads[2] = {}, writes[2] = {}; // near, far

    void count(const Demand &demand, bool near) { (demand.write ? writes : reads)[!near]++; }
    void add_to(nlohmann::json &all) const {
        all["near_reads"] = reads[0];
        all["far_reads"] = reads[1];
        all["near_writes"] = writes[0];
        all["far_writes"] = writes[1];
    }
};

} // namespace thermocline
