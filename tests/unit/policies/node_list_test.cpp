// The kernel's lists of nodes and of processors.
#include "check.h"
#include "nodes.h"

using namespace tc;

static int sum(const char *text) {
    NodeSet set;
    if (!parse_node_list(text, set))
        return -1;
    int found = 0;
    for (int node = 0; node < 1024; node++)
        found += set.has(node) ? node : 0;
    return found;
}

TEST(lists) {
    expect_eq(sum("0\n"), 0);
    expect_eq(sum("1-3,7\n"), 13);
    expect_eq(sum("1023"), 1023);
    expect_eq(sum("\n"), 0);
}

TEST(what_is_no_list) {
    for (const char *text : {"x", "1-", "3-1", "1024", "1;2", "-1", "1-2000"})
        expect_eq(sum(text), -1);
}

TEST(this_hosts_nodes) {
    NodeSet usable;
    expect_eq(usable_nodes(usable), true);
    expect_ge(count_nodes(usable.words), 1u);
    for (int node = 0; node < 1024; node++)
        if (usable.has(node)) {
            expect_eq(node_distance(node, node), 10u);
            expect_ge(free_bytes(node), uint64_t(1));
        }
}
