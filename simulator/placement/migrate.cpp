#include "simulator/placement/migrate.h"
#include "migration/policies/adaptive.h"
#include "migration/policies/history.h"
#include "migration/policies/sampling.h"
#include "simulator/memory/config.h"
#include "simulator/placement/placement.h"
#include <algorithm>
#include <nlohmann/json.hpp>

namespace thermocline {

namespace {

using migration::Granularity;
constexpr const char *names[] = {"4K", "64K", "2M"};
constexpr Ps timer = 10'000'000;                     // the kernel's: policies see time by so much
constexpr uint64_t greatest = 1'000'000'000'000'000; // 1000 s, or that many references
static_assert(page_bytes == bytes_of(Granularity::page));

uint64_t number(const nlohmann::json &config, const char *field, uint64_t otherwise,
                uint64_t least = 0, uint64_t most = greatest) {
    const auto found = config.find(field);
    if (found == config.end())
        return otherwise;
    if (!found->is_number_unsigned() || found->get<uint64_t>() < least ||
        found->get<uint64_t>() > most)
        throw ConfigError(std::string("placement.") + field + " must be a whole number from " +
                          std::to_string(least) + " to " + std::to_string(most));
    return found->get<uint64_t>();
}

double real(const nlohmann::json &config, const char *field, double otherwise, double most) {
    const auto found = config.find(field);
    if (found == config.end())
        return otherwise;
    if (!found->is_number() || !(found->get<double>() > 0) || found->get<double>() > most)
        throw ConfigError(std::string("placement.") + field + " must be a number above 0, " +
                          std::to_string(most) + " at most");
    return found->get<double>();
}

// Those whose thresholds are studied are made here, the rest by the engine's registry.
std::shared_ptr<migration::Policy> make(const nlohmann::json &config) {
    const std::string name = config.value("policy", "4K");
    if (name == "history") {
        migration::HistoryRules rules;
        rules.used = real(config, "used", rules.used, 1);
        rules.move_in = rules.move_out =
            uint32_t(number(config, "regions", rules.move_in, 1, 1 << 20));
        return std::make_shared<migration::History>(rules);
    }
    if (name == "sampling") {
        migration::SamplingRules rules;
        rules.region_ratio = real(config, "ratio", rules.region_ratio, 1e6);
        rules.sample_ns = number(config, "sample_ps", rules.sample_ns * 1000, 1000) / 1000;
        rules.execution_ns = number(config, "execution_ps", rules.execution_ns * 1000, 1000) / 1000;
        return std::make_shared<migration::Sampling>(rules);
    }
    if (name == "adaptive") {
        migration::AdaptiveRules rules;
        rules.run = uint32_t(number(config, "run", rules.run, 2, 32));
        rules.gone = uint32_t(number(config, "gone", rules.gone, 1, 32));
        rules.again = real(config, "again", rules.again, 1);
        return std::make_shared<migration::Adaptive>(rules);
    }
    std::string known;
    for (const char *const *each = migration::policy_names; *each; each++) {
        if (name == *each) // in storage of its own
            return {migration::make_policy(*each), [](migration::Policy *) {}};
        known += (known.empty() ? "" : ", ") + std::string(*each);
    }
    throw ConfigError("no migration policy '" + name + "': there are " + known);
}

// Pages of the aligned chunk around a page that are in tier 0, or are not.
template <class Each>
void in_chunk(const Placement &placement, uint64_t page, Granularity granularity, bool near,
              Each each) {
    const uint64_t pages = pages_of(granularity), first = page / pages * pages;
    for (uint64_t number = first; number < first + pages; number++)
        if (const auto use = placement.use(number); use && !use->busy && (use->tier == 0) == near)
            each(*use);
}

} // namespace

Migrate::Migrate(const PolicyContext &context) {
    const nlohmann::json &config = context.config;
    if (context.tiers != 2)
        throw ConfigError("migrate moves pages between two tiers: the machine has " +
                          std::to_string(context.tiers));
    // Assumed where the machine file says nothing (docs/simulator.md).
    fault_ = number(config, "fault_ps", 1'000'000);
    operation_ = number(config, "operation_ps", 3'000'000);
    page_ = number(config, "page_ps", 100'000);
    shootdown_ = number(config, "shootdown_ps", 1'000'000);
    far_ = number(config, "far_ps", 0);
    rules_.faults = true;
    rules_.lines = uint32_t(number(config, "lines", 16, 1, 1024));
    rules_.warm = number(config, "warm", 0);
    policy_ = make(config);
}

uint32_t Migrate::tier(const Touch &touch, const Frames &frames) {
    if (frames.pages(0) < pages_of(Granularity::region))
        throw ConfigError("near memory of " + std::to_string(frames.pages(0) * page_bytes) +
                          " bytes holds no chunk of 2 MiB: give it more (--capacity)");
    if (frames.free_pages(0) == 0)
        fresh_.insert(touch.page);
    return 0;
}

// Room is made chunk by chunk, then the page's chunk comes, or as much of it as is far and touched.
FaultStep Migrate::fault(uint64_t page, Placement &placement, Ps now) {
    const bool fresh = fresh_.count(page) != 0;
    Granularity granularity = Granularity::page;
    for (; ticked_ <= now; ticked_ += timer)
        policy_->tick(ticked_ / 1000);
    if (!fresh) {
        const auto asked = asked_.find(page);
        if (asked == asked_.end()) {
            counts_.faults++;
            granularity = policy_->move_in(page * page_bytes);
            asked_[page] = granularity;
        } else {
            granularity = asked->second;
        }
    }
    const uint64_t chunk = pages_of(granularity), first = page / chunk * chunk;
    uint64_t coming = 0;
    in_chunk(placement, page, granularity, false,
             [&](const PageUse &use) { coming += use.page == page || !fresh_.count(use.page); });
    if (placement.frames().free_pages(0) >= coming)
        return bring(page, granularity, placement, fresh);
    const std::optional<uint64_t> victim = placement.oldest(first, first + chunk);
    if (!victim)
        return {}; // all that could leave is on its way
    near_ = &placement;
    return evict(*victim, policy_->move_out(*victim * page_bytes, *this), placement);
}

double Migrate::not_accessed(uint64_t address, Granularity granularity) const {
    uint64_t all = 0, unused = 0;
    in_chunk(*near_, address / page_bytes, granularity, true, [&](const PageUse &use) {
        all++;
        unused += use.accesses == 0;
    });
    return all ? double(unused) / double(all) : 0;
}

FaultStep Migrate::bring(uint64_t page, Granularity granularity, const Placement &placement,
                         bool fresh) {
    FaultStep step;
    in_chunk(placement, page, granularity, false, [&](const PageUse &use) {
        if (use.page != page && fresh_.count(use.page))
            return; // its own first touch brings it
        step.operation.push_back({use.page, 0});
        asked_.erase(use.page);
    });
    fresh_.erase(page);
    step.work = fault_ + operation_ + step.operation.size() * page_ + far_;
    step.shootdown = shootdown_;
    if (fresh) { // zeros, which are written like data; nothing is mapped yet
        counts_.first_touches++;
        step.work = fault_;
        step.shootdown = 0;
    }
    const uint32_t pages = fresh ? 0 : uint32_t(step.operation.size());
    step.about = remember({page * page_bytes, granularity, pages, true, 0});
    return step;
}

FaultStep Migrate::evict(uint64_t victim, Granularity granularity, const Placement &placement) {
    FaultStep step;
    in_chunk(placement, victim, granularity, true, [&](const PageUse &use) {
        step.operation.push_back({use.page, 1});
        counts_.unused += use.accesses == 0;
    });
    step.work = operation_ + step.operation.size() * page_;
    step.shootdown = shootdown_;
    const uint32_t pages = uint32_t(step.operation.size());
    step.about = remember({victim * page_bytes, granularity, pages, false, 0});
    return step;
}

uint64_t Migrate::remember(const migration::Move &move) {
    if (free_.empty()) {
        free_.push_back(moves_.size());
        moves_.emplace_back();
    }
    const uint64_t about = free_.back();
    free_.pop_back();
    moves_[about] = move;
    return about;
}

void Migrate::done(uint64_t about, Ps took) {
    migration::Move &move = moves_[about];
    free_.push_back(about);
    if (move.pages == 0)
        return; // a first touch
    move.ns = took / 1000;
    policy_->moved(move);
    Moved &moved = counts_.moved[unsigned(move.granularity)][move.in];
    moved.chunks++;
    moved.pages += move.pages;
    counts_.shootdowns++;
}

nlohmann::json Migrate::statistics() const {
    nlohmann::json chunks = nlohmann::json::object();
    for (unsigned each = 0; each < migration::granularities; each++)
        chunks[names[each]] = {{"in", counts_.moved[each][1].chunks},
                               {"in_pages", counts_.moved[each][1].pages},
                               {"out", counts_.moved[each][0].chunks},
                               {"out_pages", counts_.moved[each][0].pages}};
    return {{"faults", counts_.faults},
            {"first_touches", counts_.first_touches},
            {"shootdowns", counts_.shootdowns},
            {"unused_pages", counts_.unused},
            {"chunks", chunks}};
}

} // namespace thermocline
