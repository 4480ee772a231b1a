// Bandwidth spilling: Peng et al. 2019, sections 5 and 5.1.
//
// The kernel does the spilling: a block's policy prefers the socket's two memories, and the
// kernel takes the nearer while it has room.  So a block spills page by page, when it is touched,
// whatever else was taken meanwhile.
#include "failure.h"
#include "memory.h"
#include "policies.h"
#include "range.h"

namespace tc {
namespace {

// Two policies a socket: 2 s, and of weighted blocks in big memory 2 s + 1.
struct Deal {
    const tc_memory *memory;
    bool weighted;
};

unsigned policy_of_block(size_t block, const void *how) {
    const Deal &deal = *static_cast<const Deal *>(how);
    const unsigned sockets = deal.memory->sockets;
    const unsigned socket = static_cast<unsigned>(block % sockets);
    if (!deal.weighted || deal.memory->socket[socket].big < 0)
        return 2 * socket;
    // Any run of blocks has the percentages, within a block.
    const size_t turn = block / sockets, percent = deal.memory->fast_percent;
    return 2 * socket + ((turn + 1) * percent / 100 == turn * percent / 100);
}

NodePolicy prefer(int first, int second = -1) {
    NodeSet set;
    set.add(first);
    if (second >= 0)
        set.add(second);
    return prefer_nodes(set.words);
}

// Would the kernel, told to prefer both, take the fast one first?  It goes by distance from
// the processor that touches a page: not where HBM is farther than DRAM.
bool nearer_first(const tc_memory &memory, const tc_socket &socket) {
    NodeSet with_processors;
    if (!read_nodes("has_cpu", with_processors))
        return false;
    const NodeSet all = nodes_of(memory, Memories::both);
    for (int node = 0; node < static_cast<int>(TierConfig::max_nodes); node++)
        if (with_processors.has(node) && all.has(node) &&
            node_distance(node, socket.fast) >= node_distance(node, socket.big))
            return false;
    return true;
}

// One preferred node goes on with the memories nearest to it.
NodePolicy spilling(const tc_memory &memory, const tc_socket &socket) {
    return socket.big >= 0 && nearer_first(memory, socket) ? prefer(socket.fast, socket.big)
                                                           : prefer(socket.fast);
}

// Within one percent, do the weights that the administrator gave the kernel say the same?
bool kernel_weights_match(const tc_memory &memory) {
    uint64_t fast = 0, big = 0;
    const uint64_t first = interleave_weight(memory.socket[0].fast);
    for (unsigned i = 0; i < memory.sockets; i++) {
        if (memory.socket[i].big < 0 || interleave_weight(memory.socket[i].fast) != first)
            return false;
        fast += first;
    }
    const NodeSet big_nodes = nodes_of(memory, Memories::big);
    for (int node = 0; node < static_cast<int>(TierConfig::max_nodes); node++)
        if (big_nodes.has(node))
            big += interleave_weight(node);
    if (!fast || !big)
        return false;
    const int64_t off = static_cast<int64_t>(100 * fast - memory.fast_percent * (fast + big));
    return static_cast<uint64_t>(off < 0 ? -off : off) <= fast + big;
}

// Page by page and with one mapping; null if this kernel can't.
char *interleave(const tc_memory &memory, size_t bytes) {
    NodePolicy policy = prefer_nodes(nodes_of(memory, Memories::both).words);
    policy.mode = mpol_weighted_interleave;
    return map_whole(bytes, policy);
}

bool may_be_weighted(const tc_memory &memory) {
    if (memory.fast_percent + memory.big_percent == 100)
        return true;
    failure() << "no weights are known: use a machine file that gives both bandwidths, of memories "
                 "that share no channels, or append \" weights 72:28\" to THERMOCLINE_MEMORY";
    return false;
}

} // namespace
} // namespace tc

using namespace tc;

extern "C" void *tc_spill(size_t bytes, const tc_spill_options *options) {
    const tc_spill_options chosen = options ? *options : tc_spill_options{};
    tc_memory detected;
    Blocks blocks;
    if (!divide_into_blocks(bytes, chosen.block_bytes, blocks))
        return nullptr;
    const tc_memory *memory = checked_memory(chosen.memory, detected);
    if (!memory || (chosen.weighted && !may_be_weighted(*memory)) ||
        !has_room(*memory, Memories::both, bytes))
        return nullptr;
    if (chosen.weighted && !chosen.block_bytes && kernel_weights_match(*memory))
        if (char *start = interleave(*memory, bytes))
            return start;
    NodePolicy policies[2 * TC_MAX_SOCKETS];
    for (unsigned i = 0; i < memory->sockets; i++) {
        const tc_socket &socket = memory->socket[i];
        policies[2 * i] = chosen.weighted ? prefer(socket.fast) : spilling(*memory, socket);
        policies[2 * i + 1] = prefer(socket.big >= 0 ? socket.big : socket.fast);
    }
    const Deal deal = {memory, chosen.weighted != 0};
    return map_blocks(blocks, policies, policy_of_block, &deal);
}
