// Reservation of the classes' ranges, and the kernel's memory policy for them.
#include "tiers.h"
#include "allocator.h"
#include "node_policy.h"
#include <cerrno>
#include <sys/mman.h>
#include <sys/resource.h>

namespace tc {

Ranges ranges = {0, 63, 0, 0, {}, {}, {}, {}, {}};

namespace {

constexpr unsigned largest_shift = 40, smallest_shift = 28;

NodePolicy policies[max_tiers];
NodePolicy spread_policies[max_tiers];
uint8_t node_tiers[TierConfig::max_nodes]; // tier + 1; 0: none or several

// The nodes of a tier that the process's cpuset allows.
NodePolicy make_policy(const TierConfig &tier, const uint64_t *allowed) {
    uint64_t nodes[node_words];
    for (unsigned i = 0; i < node_words; i++)
        nodes[i] = tier.nodes[i] & allowed[i];
    return prefer_nodes(nodes);
}

// Page by page round the nodes; one that is full is passed over for those nearest to it.
NodePolicy spread_over(NodePolicy policy) {
    if (count_nodes(policy.nodes) > 1)
        policy.mode = mpol_interleave;
    return policy;
}

bool reserve(unsigned count) {
    struct rlimit limit;
    size_t most = SIZE_MAX;
    if (getrlimit(RLIMIT_AS, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY)
        most = limit.rlim_cur / 2; // the rest of the program wants some too
    for (unsigned shift = largest_shift; shift >= smallest_shift; shift--) {
        const size_t bytes = (size_t(count) << shift) + ALLOC_SEGMENT_BYTES;
        if (bytes > most)
            continue;
        void *p =
            mmap(nullptr, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        if (p == MAP_FAILED)
            continue;
        const uintptr_t mask = ALLOC_SEGMENT_BYTES - 1;
        ranges.start = (reinterpret_cast<uintptr_t>(p) + mask) & ~mask;
        ranges.shift = shift;
        return true;
    }
    return false;
}

void divide(const SplitConfig &split, uint64_t *ends) {
    uint64_t sum = 0, before = 0;
    for (unsigned tier = 0; tier < ranges.tiers; tier++)
        sum += split.shares[tier];
    for (unsigned tier = 0; tier < ranges.tiers; tier++)
        ends[tier] = ((before += split.shares[tier]) << 32) / sum;
}

void map_nodes_to_tiers(unsigned count) {
    for (unsigned node = 0; node < TierConfig::max_nodes; node++) {
        unsigned owners = 0, last = 0;
        for (unsigned tier = 0; tier < count; tier++)
            if (policies[tier].mode && policies[tier].nodes[node / 64] >> node % 64 & 1) {
                owners++;
                last = tier;
            }
        node_tiers[node] = owners == 1 ? static_cast<uint8_t>(last + 1) : 0;
    }
}

} // namespace

bool is_bound(unsigned tier) { return policies[tier].mode != 0; }

unsigned tier_of_node(unsigned node, unsigned otherwise) {
    return node < TierConfig::max_nodes && node_tiers[node] ? node_tiers[node] - 1u : otherwise;
}

bool prefer_tier(void *start, size_t bytes, unsigned tier) {
    const bool spread = class_of(start) < max_classes && ranges.spread[class_of(start)];
    return !is_bound(tier) ||
           set_node_policy(start, bytes, (spread ? spread_policies : policies)[tier]);
}

bool prefer_tier_for_thread(unsigned tier) {
    return !is_bound(tier) || set_node_policy(nullptr, 0, policies[tier]);
}

bool move_to_tier(void *start, size_t bytes, unsigned tier) {
    return !is_bound(tier) || set_node_policy(start, bytes, policies[tier], mpol_move);
}

void make_policies(const Config &config) {
    uint64_t allowed[node_words];
    allowed_nodes(allowed);
    for (unsigned tier = 0; tier < config.tier_count; tier++) {
        policies[tier] = make_policy(config.tiers[tier], allowed);
        spread_policies[tier] = spread_over(policies[tier]);
    }
    map_nodes_to_tiers(config.tier_count);
}

const char *start_tiers(const Config &config) {
    make_policies(config);
    if (!reserve(config.class_count))
        return "there is no address space left for the tiers (see ulimit -v)";
    ranges.tiers = config.tier_count;
    for (unsigned number = 0; number < config.class_count; number++) {
        if (number >= ranges.tiers)
            divide(config.splits[number], ranges.share_ends[number]);
        ranges.spread[number] = config.splits[number].spread;
        ranges.huge[number] = config.splits[number].huge;
        char *start = range_start(number);
        const size_t bytes = size_t(1) << ranges.shift;
        if (!prefer_tier(start, bytes, base_tier(number)))
            return errno == EPERM ? "the kernel forbids mbind here (in a container, allow it with "
                                    "--cap-add SYS_NICE)"
                                  : "the kernel refuses to bind a tier to its nodes (does it know "
                                    "them? see thermocline doctor)";
        // A kernel without them refuses: the report then tells of no huge page.
        if (ranges.huge[number])
            madvise(start, bytes, MADV_HUGEPAGE);
        if (!alloc_add_range(start, bytes, &ranges.arena[number]))
            return "the allocator refuses a tier's range";
    }
    ranges.count = config.class_count;
    return nullptr;
}

} // namespace tc
