/* Random traffic of allocate, free and realloc: after every round each live block, most of
 * them in memory that other sites have used before, is still in its own site's tier. */
#include "placement.h"

OWN_SITE void *fast_block(size_t bytes) { return malloc(bytes); }
OWN_SITE void *slow_block(size_t bytes) { return malloc(bytes); }
OWN_SITE void *fast_grown(void *block, size_t bytes) { return realloc(block, bytes); }
OWN_SITE void *slow_grown(void *block, size_t bytes) { return realloc(block, bytes); }

enum { BLOCKS = 600, ROUNDS = 20 };
struct block {
    unsigned char *at;
    size_t bytes;
    int tier;
};
static struct block blocks[BLOCKS];
static unsigned long seed = 20181;

static size_t below(size_t limit) {
    seed = seed * 6364136223846793005UL + 1442695040888963407UL;
    return (seed >> 33) % limit;
}

static size_t some_size(void) {
    static const size_t limits[] = {64, 64, 512, 4096, 60000, 600000};
    return 1 + below(limits[below(6)]);
}

static void step(struct block *block) {
    if (block->at && below(2)) {
        free(block->at);
        block->at = NULL;
        return;
    }
    const size_t bytes = some_size();
    const unsigned char mark = (unsigned char)block->bytes;
    const size_t kept = block->at ? (bytes < block->bytes ? bytes : block->bytes) : 0;
    block->tier = (int)below(2);
    if (block->at)
        /* Half of these change the tier: the block has to move, whether it grows or shrinks. */
        block->at = (unsigned char *)(block->tier ? slow_grown(block->at, bytes)
                                                  : fast_grown(block->at, bytes));
    else
        block->at = (unsigned char *)(block->tier ? slow_block(bytes) : fast_block(bytes));
    for (size_t i = 0; i < kept; i += 97)
        EXPECT(block->at[i] == mark, "byte %zu of %zu was lost in realloc", i, kept);
    block->bytes = bytes;
    memset(block->at, (unsigned char)bytes, bytes);
}

int main(void) {
    for (int round = 0; round < ROUNDS && !failures; ++round) {
        for (int i = 0; i < 2 * BLOCKS; ++i)
            step(&blocks[below(BLOCKS)]);
        for (int i = 0; i < BLOCKS; ++i)
            if (blocks[i].at) {
                /* First and last page: asking for each page takes an emulated CPU too long. */
                EXPECT_TIER(blocks[i].at, 1, blocks[i].tier);
                EXPECT_TIER(blocks[i].at + blocks[i].bytes - 1, 1, blocks[i].tier);
            }
    }
    return finish();
}
