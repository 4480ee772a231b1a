// The placements that there are: one line each.
#include "simulator/memory/config.h"
#include "simulator/placement/guided.h"
#include "simulator/placement/hma.h"
#include "simulator/placement/interleave.h"
#include "simulator/placement/migrate.h"
#include "simulator/placement/one_tier.h"
#include "simulator/placement/random_static.h"

namespace thermocline {

namespace {

using Make = std::unique_ptr<PlacementPolicy> (*)(const PolicyContext &);
template <class Policy> std::unique_ptr<PlacementPolicy> make(const PolicyContext &context) {
    return std::make_unique<Policy>(context);
}
constexpr struct {
    const char *name;
    Make make;
} policies[] = {
    {"one-tier", make<OneTier>},    {"first-touch", make<OneTier>},
    {"random", make<RandomStatic>}, {"interleave", make<Interleave>},
    {"guided", make<Guided>},       {"hma", make<Hma>},
    {"migrate", make<Migrate>},
};

} // namespace

nlohmann::json PlacementPolicy::statistics() const { return nullptr; }

std::unique_ptr<PlacementPolicy> make_policy(const std::string &name,
                                             const PolicyContext &context) {
    for (const auto &each : policies)
        if (name == each.name)
            return each.make(context);
    std::string known;
    for (const std::string &each : policy_names())
        known += (known.empty() ? "" : ", ") + each;
    throw ConfigError("no placement '" + name + "': there are " + known);
}

std::vector<std::string> policy_names() {
    std::vector<std::string> names;
    for (const auto &each : policies)
        names.push_back(each.name);
    return names;
}

} // namespace thermocline
