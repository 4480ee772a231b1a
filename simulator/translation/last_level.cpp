// The organisations of the last level: one line each.
#include "simulator/translation/last_level.h"
#include "simulator/memory/config.h"
#include "simulator/translation/baseline.h"
#include "simulator/translation/pom_tlb.h"
#include "simulator/translation/shared_l2.h"
#include "simulator/translation/tsb.h"

namespace thermocline {

namespace {

template <class Made>
std::unique_ptr<LastLevel> make(const TranslationConfig &config, uint32_t cores) {
    return std::make_unique<Made>(config, cores);
}

constexpr struct {
    const char *name;
    std::unique_ptr<LastLevel> (*make)(const TranslationConfig &, uint32_t cores);
} last_levels[] = {
    {"baseline", make<Baseline>},
    {"pom", make<PomTlb>},
    {"shared-l2", make<SharedL2>},
    {"tsb", make<Tsb>},
};

} // namespace

std::unique_ptr<LastLevel> make_last_level(const TranslationConfig &config, uint32_t cores) {
    std::string known;
    for (const auto &each : last_levels) {
        if (config.name == each.name)
            return each.make(config, cores);
        known += (known.empty() ? "" : ", ") + std::string(each.name);
    }
    throw ConfigError("no last-level TLB '" + config.name + "': there are " + known);
}

} // namespace thermocline
