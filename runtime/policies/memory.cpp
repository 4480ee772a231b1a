// The sockets' memories: from a text, or from what the kernel says of its nodes.
#include "memory.h"
#include "failure.h"
#include <climits>
#include <cstdlib>
#include <cstring>

namespace tc {
namespace {

constexpr const char *form = "write it as 0:2,1:3 weights 72:28 (fast and big node of each "
                             "socket, then percentages if bandwidths add up)";

bool number(const char *&at, int &value) {
    char *end;
    const unsigned long found = strtoul(at, &end, 10);
    if (*at < '0' || *at > '9' || found >= TierConfig::max_nodes)
        return false;
    at = end;
    value = static_cast<int>(found);
    return true;
}

bool word(const char *&at, const char *expected) {
    const size_t length = strlen(expected);
    if (strncmp(at, expected, length) != 0)
        return false;
    at += length;
    return true;
}

bool sockets(const char *&at, tc_memory &memory) {
    do {
        if (memory.sockets == TC_MAX_SOCKETS)
            return false;
        tc_socket &socket = memory.socket[memory.sockets++];
        socket.big = -1;
        if (!number(at, socket.fast) || !word(at, ":"))
            return false;
        if (!word(at, "-") && !number(at, socket.big))
            return false;
    } while (word(at, ","));
    return true;
}

bool weights(const char *&at, tc_memory &memory) {
    int fast, big;
    if (!number(at, fast) || !word(at, ":") || !number(at, big))
        return false;
    memory.fast_percent = static_cast<unsigned>(fast);
    memory.big_percent = static_cast<unsigned>(big);
    return true;
}

// Is memory without processors faster than the processors' own?  HBM is, in flat mode.
bool is_faster(int far, int own) { return read_bandwidth(far) > read_bandwidth(own); }

// The node of the set that is nearest to `from`, -1 if the set is empty.
int nearest(const NodeSet &set, int from) {
    int best = -1;
    unsigned least = UINT_MAX;
    for (int node = 0; node < static_cast<int>(TierConfig::max_nodes); node++)
        if (set.has(node) && node_distance(from, node) < least) {
            least = node_distance(from, node);
            best = node;
        }
    return best;
}

bool detect(tc_memory &memory) {
    NodeSet usable, with_processors, others;
    if (!usable_nodes(usable) || !read_nodes("has_cpu", with_processors)) {
        failure() << "the kernel does not say which nodes there are: set THERMOCLINE_MEMORY";
        return false;
    }
    for (unsigned i = 0; i < node_words; i++) {
        others.words[i] = usable.words[i] & ~with_processors.words[i];
        with_processors.words[i] &= usable.words[i];
    }
    for (int node = 0; node < static_cast<int>(TierConfig::max_nodes); node++)
        if (with_processors.has(node) && memory.sockets < TC_MAX_SOCKETS) {
            const int other = nearest(others, node);
            const bool turned = other >= 0 && is_faster(other, node);
            memory.socket[memory.sockets++] =
                turned ? tc_socket{other, node} : tc_socket{node, other};
        }
    if (!memory.sockets)
        failure() << "no node with processors may be used: set THERMOCLINE_MEMORY";
    return memory.sockets > 0;
}

bool is_usable(const NodeSet &usable, int node) {
    if (usable.has(node))
        return true;
    failure() << "node " << static_cast<uint64_t>(node)
              << " has no memory that this process may use (is it online, and in the cpuset?)";
    return false;
}

bool check(const tc_memory &memory) {
    if (memory.sockets == 0 || memory.sockets > TC_MAX_SOCKETS) {
        failure() << "a memory has 1 to " << uint64_t(TC_MAX_SOCKETS) << " sockets";
        return false;
    }
    const unsigned sum = memory.fast_percent + memory.big_percent;
    if (memory.fast_percent > 100 || memory.big_percent > 100 || (sum != 0 && sum != 100)) {
        failure() << "weights " << uint64_t(memory.fast_percent) << ':'
                  << uint64_t(memory.big_percent) << " are not percentages: they add up to "
                  << uint64_t(sum) << ", not to 100";
        return false;
    }
    NodeSet usable, fast;
    if (!usable_nodes(usable)) {
        failure() << "the kernel does not say which nodes there are";
        return false;
    }
    for (unsigned i = 0; i < memory.sockets; i++) {
        const tc_socket &socket = memory.socket[i];
        if (socket.fast < 0 || fast.has(socket.fast)) {
            failure() << "each socket needs a fast memory of its own";
            return false;
        }
        if (!is_usable(usable, socket.fast) || (socket.big >= 0 && !is_usable(usable, socket.big)))
            return false;
        fast.add(socket.fast);
    }
    for (unsigned i = 0; i < memory.sockets; i++)
        if (fast.has(memory.socket[i].big)) {
            failure() << "node " << static_cast<uint64_t>(memory.socket[i].big)
                      << " is named as fast and as big memory";
            return false;
        }
    return true;
}

} // namespace

const tc_memory *checked_memory(const tc_memory *given, tc_memory &detected) {
    if (!given && tc_memory_detect(&detected) != 0)
        return nullptr;
    const tc_memory *memory = given ? given : &detected;
    return check(*memory) ? memory : nullptr;
}

NodeSet nodes_of(const tc_memory &memory, Memories which) {
    NodeSet set;
    for (unsigned i = 0; i < memory.sockets; i++) {
        if (which != Memories::big)
            set.add(memory.socket[i].fast);
        if (which != Memories::fast && memory.socket[i].big >= 0)
            set.add(memory.socket[i].big);
    }
    return set;
}

bool has_room(const tc_memory &memory, Memories which, size_t bytes) {
    const NodeSet set = nodes_of(memory, which);
    uint64_t room = 0;
    for (int node = 0; node < static_cast<int>(TierConfig::max_nodes); node++)
        if (set.has(node))
            room += free_bytes(node);
    if (room >= bytes)
        return true;
    constexpr const char *names[] = {"fast memories", "big memories", "memories"};
    failure() << (bytes >> 20) << " MiB asked for, " << (room >> 20) << " MiB free in the "
              << names[static_cast<int>(which)];
    return false;
}

} // namespace tc

using namespace tc;

extern "C" int tc_memory_parse(tc_memory *memory, const char *text) {
    *memory = {};
    const char *at = text;
    if (!sockets(at, *memory) || (word(at, " weights ") && !weights(at, *memory)) || *at) {
        failure() << "memory \"" << text << "\" is not understood: " << form;
        return -1;
    }
    return check(*memory) ? 0 : -1;
}

extern "C" int tc_memory_detect(tc_memory *memory) {
    const char *text = getenv("THERMOCLINE_MEMORY");
    if (text)
        return tc_memory_parse(memory, text);
    *memory = {};
    return detect(*memory) ? 0 : -1;
}
