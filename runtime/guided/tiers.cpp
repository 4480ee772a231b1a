// Reservation of the tiers' ranges, and the kernel's memory policy for them.
#include "tiers.h"
#include "allocator.h"
#include <cerrno>
#include <cstring>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace tc {

TierRanges ranges = {0, 63, 0, {}, {}};

namespace {

// linux/mempolicy.h; Debian 12's has no MPOL_PREFERRED_MANY for older kernels' sake.
constexpr int preferred = 1, preferred_many = 5;
constexpr unsigned long mems_allowed_flag = 1 << 2;
constexpr unsigned long mask_bits = TierConfig::max_nodes + 1; // the kernel subtracts one

constexpr unsigned largest_shift = 40, smallest_shift = 28;

struct Policy {
    int mode; // 0: none
    uint64_t nodes[TierConfig::max_nodes / 64];
};
Policy policies[max_tiers];
uint8_t node_tiers[TierConfig::max_nodes]; // tier + 1; 0: none or several
bool many_works = true;

unsigned count_bits(const uint64_t *mask) {
    unsigned n = 0;
    for (unsigned i = 0; i < TierConfig::max_nodes / 64; i++)
        n += static_cast<unsigned>(__builtin_popcountll(mask[i]));
    return n;
}

// The nodes of a tier that the process's cpuset allows.
void make_policy(const TierConfig &tier, const uint64_t *allowed, Policy &policy) {
    policy = Policy{};
    for (unsigned i = 0; i < TierConfig::max_nodes / 64; i++)
        policy.nodes[i] = tier.nodes[i] & allowed[i];
    const unsigned n = count_bits(policy.nodes);
    policy.mode = n == 0 ? 0 : n == 1 ? preferred : preferred_many;
}

// A kernel before 5.15 knows one preferred node only.
void keep_first_node(Policy &policy) {
    bool kept = false;
    for (uint64_t &word : policy.nodes) {
        word = kept ? 0 : word & -word;
        kept = kept || word;
    }
    policy.mode = preferred;
}

bool set_policy(void *start, size_t bytes, Policy &policy) {
    if (policy.mode == preferred_many && !many_works)
        keep_first_node(policy);
    const auto call = [&] {
        return start ? syscall(SYS_mbind, start, bytes, policy.mode, policy.nodes, mask_bits, 0)
                     : syscall(SYS_set_mempolicy, policy.mode, policy.nodes, mask_bits);
    };
    if (call() == 0)
        return true;
    if (errno != EINVAL || policy.mode != preferred_many)
        return false;
    many_works = false;
    keep_first_node(policy);
    return call() == 0;
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
    return !is_bound(tier) || set_policy(start, bytes, policies[tier]);
}

bool prefer_tier_for_thread(unsigned tier) {
    return !is_bound(tier) || set_policy(nullptr, 0, policies[tier]);
}

const char *start_tiers(const Config &config) {
    uint64_t allowed[TierConfig::max_nodes / 64];
    if (syscall(SYS_get_mempolicy, nullptr, allowed, mask_bits, nullptr, mems_allowed_flag) != 0)
        memset(allowed, 0xff, sizeof allowed);
    for (unsigned tier = 0; tier < config.tier_count; tier++)
        make_policy(config.tiers[tier], allowed, policies[tier]);
    map_nodes_to_tiers(config.tier_count);

    if (!reserve(config.tier_count))
        return "there is no address space left for the tiers (see ulimit -v)";
    for (unsigned tier = 0; tier < config.tier_count; tier++) {
        char *start = range_start(tier);
        const size_t bytes = size_t(1) << ranges.shift;
        if (!prefer_tier(start, bytes, tier))
            return errno == EPERM ? "the kernel forbids mbind here (in a container, allow it with "
                                    "--cap-add SYS_NICE)"
                                  : "the kernel refuses to bind a tier to its nodes (does it know "
                                    "them? see thermocline doctor)";
        if (!alloc_add_range(start, bytes, &ranges.arena[tier]))
            return "the allocator refuses a tier's range";
    }
    ranges.count = config.tier_count;
    return nullptr;
}

} // namespace tc
