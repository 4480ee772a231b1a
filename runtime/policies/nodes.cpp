// The kernel's files about nodes: read with system calls, without malloc.
#include "nodes.h"
#include "text.h"
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <unistd.h>

namespace tc {

namespace {

constexpr const char *nodes_folder = "/sys/devices/system/node/";

bool read_text(const char *path, char *text, size_t size) {
    const int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return false;
    const ssize_t n = read(fd, text, size - 1);
    close(fd);
    text[n > 0 ? n : 0] = 0;
    return n > 0;
}

uint64_t read_number(const char *path) {
    char text[32];
    return read_text(path, text, sizeof text) ? strtoull(text, nullptr, 10) : 0;
}

// "Node 0 MemFree:  1234 kB" of a node's meminfo.
uint64_t kib_of(const char *meminfo, const char *field) {
    const char *found = strstr(meminfo, field);
    return found ? strtoull(found + strlen(field), nullptr, 10) : 0;
}

} // namespace

bool parse_node_list(const char *text, NodeSet &set) {
    set = {};
    while (*text && *text != '\n') {
        char *end;
        const unsigned long first = strtoul(text, &end, 10);
        unsigned long last = first;
        if (end == text)
            return false;
        if (*end == '-') {
            text = end + 1;
            last = strtoul(text, &end, 10);
            if (end == text)
                return false;
        }
        if (first > last || last >= TierConfig::max_nodes)
            return false;
        for (unsigned long node = first; node <= last; node++)
            set.add(static_cast<int>(node));
        if (*end != ',' && *end != '\n' && *end)
            return false;
        text = *end == ',' ? end + 1 : end;
    }
    return true;
}

bool read_nodes(const char *list, NodeSet &set) {
    char path[128], text[4096];
    Line(path, sizeof path) << nodes_folder << list;
    return read_text(path, text, sizeof text) && parse_node_list(text, set);
}

bool usable_nodes(NodeSet &set) {
    NodeSet allowed;
    allowed_nodes(allowed.words);
    if (!read_nodes("has_memory", set))
        return false;
    for (unsigned i = 0; i < node_words; i++)
        set.words[i] &= allowed.words[i];
    return true;
}

bool read_node_file(int node, const char *name, char *text, size_t size) {
    char path[128];
    Line(path, sizeof path) << nodes_folder << "node" << static_cast<uint64_t>(node) << '/' << name;
    return read_text(path, text, size);
}

unsigned node_distance(int from, int to) {
    char text[4096];
    if (!read_node_file(from, "distance", text, sizeof text))
        return 0;
    // One number for each node that is online, in their order.
    NodeSet online;
    if (!read_nodes("online", online))
        return 0;
    char *at = text;
    for (int node = 0; node <= to; node++)
        if (online.has(node)) {
            const unsigned distance = static_cast<unsigned>(strtoul(at, &at, 10));
            if (node == to)
                return distance;
        }
    return 0;
}

uint64_t free_bytes(int node) {
    char text[4096];
    if (!read_node_file(node, "meminfo", text, sizeof text))
        return 0;
    return (kib_of(text, "MemFree:") + kib_of(text, "Active(file):") +
            kib_of(text, "Inactive(file):"))
           << 10;
}

uint64_t read_bandwidth(int node) {
    char text[32];
    return read_node_file(node, "access0/initiators/read_bandwidth", text, sizeof text)
               ? strtoull(text, nullptr, 10)
               : 0;
}

uint64_t interleave_weight(int node) {
    char path[128];
    Line(path, sizeof path) << "/sys/kernel/mm/mempolicy/weighted_interleave/node"
                            << static_cast<uint64_t>(node);
    return read_number(path);
}

} // namespace tc
