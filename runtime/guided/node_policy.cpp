// Memory policies by their system calls: libnuma is not there on every host.
#include "node_policy.h"
#include <cerrno>
#include <cstring>
#include <sys/syscall.h>
#include <unistd.h>

namespace tc {

namespace {

constexpr unsigned long mems_allowed_flag = 1 << 2;
constexpr unsigned long mask_bits = TierConfig::max_nodes + 1; // the kernel subtracts one
bool many_works = true;

// A kernel before 5.15 knows one preferred node only.
void keep_first_node(NodePolicy &policy) {
    bool kept = false;
    for (uint64_t &word : policy.nodes) {
        word = kept ? 0 : word & -word;
        kept = kept || word;
    }
    policy.mode = mpol_preferred;
}

} // namespace

unsigned count_nodes(const uint64_t *nodes) {
    unsigned n = 0;
    for (unsigned i = 0; i < node_words; i++)
        n += static_cast<unsigned>(__builtin_popcountll(nodes[i]));
    return n;
}

void allowed_nodes(uint64_t *nodes) {
    if (syscall(SYS_get_mempolicy, nullptr, nodes, mask_bits, nullptr, mems_allowed_flag) != 0)
        memset(nodes, 0xff, node_words * sizeof *nodes);
}

NodePolicy prefer_nodes(const uint64_t *nodes) {
    NodePolicy policy;
    memcpy(policy.nodes, nodes, sizeof policy.nodes);
    const unsigned n = count_nodes(nodes);
    policy.mode = n == 0 ? 0 : n == 1 ? mpol_preferred : mpol_preferred_many;
    return policy;
}

bool set_node_policy(void *start, size_t bytes, NodePolicy &policy, unsigned flags) {
    if (policy.mode == mpol_preferred_many && !many_works)
        keep_first_node(policy);
    const auto call = [&] {
        return start ? syscall(SYS_mbind, start, bytes, policy.mode, policy.nodes, mask_bits, flags)
                     : syscall(SYS_set_mempolicy, policy.mode, policy.nodes, mask_bits);
    };
    if (call() == 0)
        return true;
    if (errno != EINVAL || policy.mode != mpol_preferred_many)
        return false;
    many_works = false;
    keep_first_node(policy);
    return call() == 0;
}

} // namespace tc
