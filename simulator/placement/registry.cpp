// The placements that there are: one line each.
#include "simulator/memory/known_fields.h"
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
    const char *options; // beside "socket"
} policies[] = {
    {"one-tier", make<OneTier>, "tier"},
    {"first-touch", make<OneTier>, ""},
    {"random", make<RandomStatic>, "weights"},
    {"interleave", make<Interleave>, "weights"},
    {"guided", make<Guided>, "default_tier nonheap_tier sites shares spread"},
    {"hma", make<Hma>,
     "epoch_ps operation_ps shootdown_ps sweep_ps copiers lines bytes threshold start"},
    {"migrate", make<Migrate>,
     "policy used regions ratio sample_ps execution_ps run gone again fault_ps operation_ps page_ps"
     " shootdown_ps far_ps lines warm"},
};

std::string options(const std::string &name) {
    for (const auto &each : policies)
        if (name == each.name)
            return each.options;
    return "";
}

// What one policy begins with has its options in the same place.
void check(const nlohmann::json &config, const std::string &name) {
    if (config.value("name", "") != name)
        return;
    std::string known = "socket";
    for (const std::string &each : {options(config.value("start", "")), options(name)})
        known = each + (each.empty() ? "" : " ") + known;
    check_fields(config, "placement", name, known);
}

} // namespace

nlohmann::json PlacementPolicy::statistics() const { return nullptr; }

std::unique_ptr<PlacementPolicy> make_policy(const std::string &name,
                                             const PolicyContext &context) {
    for (const auto &each : policies)
        if (name == each.name) {
            check(context.config, name);
            return each.make(context);
        }
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
