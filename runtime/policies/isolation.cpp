// Write isolation: Peng et al. 2019, sections 5 and 5.2.
#include "failure.h"
#include "files.h"
#include "memory.h"
#include "policies.h"
#include "range.h"

namespace tc {
namespace {

unsigned turn(size_t block, const void *count) {
    return static_cast<unsigned>(block % *static_cast<const unsigned *>(count));
}

// Blocks go round these memories, each on its own node while that has room.
char *spread(const tc_memory &memory, Memories which, const Blocks &blocks) {
    if (!has_room(memory, which, blocks.bytes))
        return nullptr;
    const NodeSet nodes = nodes_of(memory, which);
    NodePolicy policies[TC_MAX_SOCKETS];
    unsigned count = 0;
    for (int node = 0; node < static_cast<int>(TierConfig::max_nodes); node++)
        if (nodes.has(node)) {
            NodeSet one;
            one.add(node);
            policies[count++] = prefer_nodes(one.words);
        }
    return map_blocks(blocks, policies, turn, &count);
}

bool has_big(const tc_memory &memory) {
    if (count_nodes(nodes_of(memory, Memories::big).words))
        return true;
    failure() << "there is no node of big memory here: name directories on its file systems, or "
                 "the nodes in THERMOCLINE_MEMORY";
    return false;
}

} // namespace
} // namespace tc

using namespace tc;

extern "C" void *tc_write_heavy(size_t bytes, const tc_isolation_options *options) {
    const tc_isolation_options chosen = options ? *options : tc_isolation_options{};
    tc_memory detected;
    Blocks blocks;
    if (!divide_into_blocks(bytes, chosen.block_bytes, blocks))
        return nullptr;
    const tc_memory *memory = checked_memory(chosen.memory, detected);
    return memory ? spread(*memory, Memories::fast, blocks) : nullptr;
}

extern "C" void *tc_read_mostly(size_t bytes, const tc_isolation_options *options) {
    const tc_isolation_options chosen = options ? *options : tc_isolation_options{};
    tc_memory detected;
    Blocks blocks;
    if (!divide_into_blocks(bytes, chosen.block_bytes, blocks))
        return nullptr;
    if (chosen.directory_count)
        return map_files(blocks, chosen.directories, chosen.directory_count,
                         chosen.flags & TC_ALLOW_PAGE_CACHE);
    const tc_memory *memory = checked_memory(chosen.memory, detected);
    return memory && has_big(*memory) ? spread(*memory, Memories::big, blocks) : nullptr;
}
