/* A block of a class that is spread (its site is in round_block), of MIB in argv[1]: pages go round
 * the nodes of each tier, whose numbers TIER0 and TIER1 list.  Of the block, argv[2] MiB are
 * expected in tier 0, give or take what the capacity's chunks allow. */
#include "placement.h"

OWN_SITE char *round_block(size_t bytes) { return (char *)malloc(bytes); }
OWN_SITE char *fast_block(size_t bytes) { return (char *)malloc(bytes); }
OWN_SITE char *slow_block(size_t bytes) { return (char *)malloc(bytes); }

int main(int argc, char **argv) {
    if (argc != 3)
        return 2;
    const size_t bytes = (size_t)atoi(argv[1]) * MIB, fast = (size_t)atoi(argv[2]) * MIB;
    char *block = round_block(bytes);
    memset(block, 1, bytes);
    size_t pages[8] = {0}, there = 0, run = 0, longest = 0;
    int before = -1;
    for (size_t at = 0; at < bytes; at += PAGE) {
        const int node = node_of(block + at);
        EXPECT(node >= 0 && node < 8, "node %d", node);
        run = node == before ? run + 1 : 1;
        longest = run > longest ? run : longest;
        before = node;
        pages[node & 7]++;
        there += (size_t)tier_has(0, node) * PAGE;
    }
    printf("%zu %zu %zu %zu, at most %zu in a row\n", pages[0], pages[1], pages[2], pages[3],
           longest);
    /* A huge page goes to one node as a whole. */
    EXPECT(longest <= 2 * MIB / PAGE, "%zu neighbours are on one node", longest);
    EXPECT(there <= fast && there + MIB >= fast, "%zu bytes in tier 0", there);
    /* Other sites are not spread: near the processor, as long as there is room. */
    char *other = fast_block(MIB / 4), *slow = slow_block(MIB / 4);
    memset(other, 1, MIB / 4);
    memset(slow, 1, MIB / 4);
    EXPECT(node_of(other) >= 0, "node %d", node_of(other));
    for (size_t at = PAGE; at < MIB / 4; at += PAGE)
        EXPECT(node_of(slow + at) == node_of(slow), "%d and %d", node_of(slow + at), node_of(slow));
    return finish();
}
