/* More memory than the fast tier holds: allocation goes on and later pages are in the next
 * tier.  Arguments: MiB to allocate at a fast site, and the limit in MiB on what may lie in
 * tier 0 (0: the machine's own), how long to pause between blocks, in milliseconds, and how
 * often to read it all afterwards. */
#include "placement.h"

static char *fast_block(size_t bytes) { return (char *)malloc(bytes); }
static char *slow_block(size_t bytes) { return (char *)malloc(bytes); }

enum { BLOCK = 4 * MIB, MOST = 1024 };
static char *blocks[MOST];

static void pause_milliseconds(int milliseconds) { usleep(1000U * (unsigned)milliseconds); }

int main(int argc, char **argv) {
    if (argc != 5)
        return 2;
    const int count = atoi(argv[1]) * (MIB / 4096) / (BLOCK / 4096);
    const size_t limit = (size_t)atoi(argv[2]) * MIB;
    const int milliseconds = atoi(argv[3]);

    size_t fast = 0, elsewhere = 0;
    for (int i = 0; i < count; ++i) {
        blocks[i] = fast_block(BLOCK);
        EXPECT(blocks[i] != NULL, "block %d", i);
        if (!blocks[i])
            return finish();
        memset(blocks[i], 1, BLOCK);
        pause_milliseconds(milliseconds);
    }
    for (int i = 0; i < count; ++i) {
        const size_t there = bytes_on_tier(blocks[i], BLOCK, 0);
        fast += there;
        elsewhere += bytes_on_tier(blocks[i], BLOCK, 1);
    }
    for (int sweep = 0; sweep < atoi(argv[4]); ++sweep)
        for (int i = 0; i < count; ++i)
            for (size_t at = 0; at < BLOCK; at += 64)
                EXPECT(((volatile char *)blocks[i])[at] == 1, "block %d, byte %zu", i, at);
    printf("%zu MiB in tier 0, %zu MiB in tier 1\n", fast / MIB, elsewhere / MIB);
    EXPECT(fast + elsewhere == (size_t)count * BLOCK, "%zu + %zu", fast, elsewhere);
    EXPECT_TIER(blocks[0], BLOCK, 0);
    EXPECT(elsewhere > 0, "nothing spilled");
    if (limit) {
        /* The limit is seen at intervals, so that a block or two may pass it. */
        EXPECT(fast <= limit + 2 * BLOCK, "%zu MiB", fast / MIB);
        EXPECT(fast + 2 * BLOCK >= limit, "%zu MiB", fast / MIB);
    }
    /* The slow tier's own sites are not disturbed. */
    char *slow = slow_block(BLOCK);
    memset(slow, 1, BLOCK);
    EXPECT_TIER(slow, BLOCK, 1);

    /* Room in the fast tier again: its sites come back to it. */
    for (int i = 0; i < count; ++i)
        free(blocks[i]);
    if (limit) {
        pause_milliseconds(1000);
        char *again = fast_block(2 * BLOCK);
        memset(again, 1, 2 * BLOCK);
        EXPECT_TIER(again, 2 * BLOCK, 0);
    }
    return finish();
}
