#include "simulator/placement/hma.h"
#include "simulator/memory/config.h"
#include "simulator/placement/placement.h"
#include <algorithm>
#include <bit>
#include <nlohmann/json.hpp>

namespace thermocline {

namespace {

constexpr Ps longest_epoch = 1'000'000'000'000'000; // 1000 s
constexpr Ps greatest_cost = 100'000'000'000;       // 0.1 s

uint64_t number(const nlohmann::json &config, const char *field, uint64_t otherwise, uint64_t least,
                uint64_t most) {
    const auto found = config.find(field);
    if (found == config.end() && otherwise >= least)
        return otherwise;
    if (found == config.end() || !found->is_number_unsigned() || found->get<uint64_t>() < least ||
        found->get<uint64_t>() > most)
        throw ConfigError(std::string("placement.") + field + " must be a whole number from " +
                          std::to_string(least) + " to " + std::to_string(most));
    return found->get<uint64_t>();
}

} // namespace

Hma::Hma(const PolicyContext &context) {
    const nlohmann::json &config = context.config;
    if (context.tiers < 2)
        throw ConfigError("hma moves pages between tiers: the machine has one");
    rules_.epoch = number(config, "epoch_ps", 0, 1'000'000, longest_epoch);
    // An operation and a page's part of a sweep: assumed, of the order of what was measured of
    // Linux on a current host (docs/simulator.md).
    rules_.operation = number(config, "operation_ps", 3'000'000, 0, greatest_cost);
    rules_.shootdown = number(config, "shootdown_ps", 1'000'000, 0, greatest_cost);
    rules_.sweep = number(config, "sweep_ps", 10'000, 0, greatest_cost);
    rules_.copiers = uint32_t(number(config, "copiers", 1, 1, 64));
    rules_.lines = uint32_t(number(config, "lines", 16, 1, 1024));
    const uint64_t bytes = number(config, "bytes", page_bytes, page_bytes, uint64_t(1) << 30);
    if (!std::has_single_bit(bytes))
        throw ConfigError("placement.bytes must be a power of two");
    group_pages_ = bytes / page_bytes;
    least_ = threshold_ = number(config, "threshold", 64, 1, UINT32_MAX);
    const std::string start = config.value("start", "first-touch");
    if (start == "hma")
        throw ConfigError("placement.start: hma can't start as itself");
    start_ = make_policy(start, context);
}

// The hottest first.
std::vector<Hma::Group> Hma::marked(const Placement &placement) const {
    std::vector<Group> all;
    for (const PageUse &use : placement.accessed())
        all.push_back({use.page / group_pages_, use.accesses});
    if (group_pages_ > 1) { // one of each
        std::sort(all.begin(), all.end(),
                  [](const Group &a, const Group &b) { return a.number < b.number; });
        size_t kept = 0;
        for (const Group &each : all)
            if (kept > 0 && all[kept - 1].number == each.number)
                all[kept - 1].accesses += each.accesses;
            else
                all[kept++] = each;
        all.resize(kept);
    }
    std::erase_if(all, [&](const Group &each) { return each.accesses <= threshold_; });
    std::sort(all.begin(), all.end(), [](const Group &a, const Group &b) {
        return a.accesses != b.accesses ? a.accesses > b.accesses : a.number < b.number;
    });
    return all;
}

// Near pages that are not marked: so many, or all of them.
std::vector<PageUse> Hma::coldest(const Placement &placement, std::vector<Group> marked,
                                  size_t count) const {
    const auto by_number = [](const Group &a, const Group &b) { return a.number < b.number; };
    std::sort(marked.begin(), marked.end(), by_number);
    std::vector<PageUse> cold = placement.uses(0);
    std::erase_if(cold, [&](const PageUse &use) {
        return std::binary_search(marked.begin(), marked.end(), Group{use.page / group_pages_},
                                  by_number);
    });
    const auto colder = [](const PageUse &a, const PageUse &b) {
        return a.accesses != b.accesses ? a.accesses < b.accesses : a.page < b.page;
    };
    count = std::min(count, cold.size());
    std::partial_sort(cold.begin(), cold.begin() + ptrdiff_t(count), cold.end(), colder);
    cold.resize(count);
    return cold;
}

void Hma::adapt(uint64_t marked_pages, uint64_t near_pages) {
    if (marked_pages > near_pages)
        threshold_ *= 2;
    else if (marked_pages < near_pages / 2)
        threshold_ = std::max(least_, threshold_ / 2);
}

std::vector<Operation> Hma::epoch(const Placement &placement) {
    const std::vector<Group> marked = this->marked(placement);
    std::vector<Operation> operations;
    uint64_t marked_pages = 0, coming = 0;
    for (const Group &group : marked) {
        Operation operation;
        for (uint64_t i = 0; i < group_pages_; i++) {
            const std::optional<PageUse> use = placement.use(group.number * group_pages_ + i);
            marked_pages += use.has_value();
            if (use && use->tier != 0)
                operation.push_back({use->page, 0});
        }
        coming += operation.size();
        if (!operation.empty())
            operations.push_back(std::move(operation));
    }
    adapt(marked_pages, placement.frames().pages(0));
    // Whose pages find no free frame change places with cold ones.
    uint64_t free = placement.frames().free_pages(0);
    if (coming <= free)
        return operations;
    const std::vector<PageUse> cold = coldest(placement, marked, coming - free);
    auto victim = cold.begin();
    for (size_t done = 0; done < operations.size(); done++) {
        Operation &operation = operations[done];
        const size_t pages = operation.size(), into_free = std::min<uint64_t>(free, pages);
        if (pages - into_free > size_t(cold.end() - victim)) {
            operations.resize(done); // all else in near memory is marked
            break;
        }
        free -= into_free;
        for (size_t i = into_free; i < pages; i++)
            operation.push_back({(victim++)->page, placement.use(operation[i].page)->tier});
    }
    return operations;
}

} // namespace thermocline
