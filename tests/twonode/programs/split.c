/* A site that the plan splits evenly over both tiers.  Argument: the limit in MiB on what may lie
 * in tier 0 (0: the machine's own). */
#include "placement.h"
#include <sys/wait.h>

static char *half_block(size_t bytes) { return (char *)malloc(bytes); }
static char *half_again(char *block, size_t bytes) { return (char *)realloc(block, bytes); }
static char *fast_again(char *block, size_t bytes) { return (char *)realloc(block, bytes); }
static char *slow_block(size_t bytes) { return (char *)malloc(bytes); }

enum { BLOCK = 64 * MIB, WINDOW = 8 * MIB, SMALL = 100, COUNT = 100000 };

static void expect_part(const char *block, size_t bytes, size_t fast, size_t off) {
    const size_t there = bytes_on_tier(block, bytes, 0), slow = bytes_on_tier(block, bytes, 1);
    printf("%zu KiB in tier 0, %zu KiB in tier 1\n", there / 1024, slow / 1024);
    EXPECT(there + slow == bytes, "%zu + %zu", there, slow);
    EXPECT(there + off >= fast && there <= fast + off, "%zu bytes in tier 0", there);
}

/* Blocks smaller than a page: all of them together. */
static void expect_small_ones(void) {
    static char *blocks[COUNT];
    size_t fast = 0;
    for (int i = 0; i < COUNT; ++i)
        memset(blocks[i] = half_block(SMALL), 1, SMALL);
    for (int i = 0; i < COUNT; i += 16)
        fast += tier_has(0, node_of(blocks[i]));
    EXPECT(fast > COUNT / 16 * 2 / 5 && fast < COUNT / 16 * 3 / 5, "%zu of %d", fast, COUNT / 16);
}

int main(int argc, char **argv) {
    if (argc != 2)
        return 2;
    const size_t limit = (size_t)atoi(argv[1]) * MIB;
    char *block = half_block(BLOCK);
    memset(block, 1, BLOCK);
    if (limit) {
        expect_part(block, BLOCK, limit, MIB / 2);
        return finish();
    }
    expect_part(block, BLOCK, BLOCK / 2, BLOCK / 50);
    for (size_t at = 0; at < BLOCK; at += WINDOW)
        expect_part(block + at, WINDOW, WINDOW / 2, WINDOW / 8);

    fflush(NULL);
    const pid_t child = fork();
    if (child == 0) { /* its copy of the block, and a block of its own */
        memset(block, 2, BLOCK);
        expect_part(block, BLOCK, BLOCK / 2, BLOCK / 50);
        char *own = half_block(BLOCK / 2);
        memset(own, 1, BLOCK / 2);
        expect_part(own, BLOCK / 2, BLOCK / 4, BLOCK / 50);
        exit(failures != 0);
    }
    int status = -1;
    waitpid(child, &status, 0);
    EXPECT(status == 0, "the child's status is %d", status);

    expect_small_ones();
    char *slow = slow_block(WINDOW);
    memset(slow, 1, WINDOW);
    EXPECT_TIER(slow, WINDOW, 1);
    block = fast_again(block, BLOCK);
    EXPECT(block[0] == 1 && block[BLOCK - 1] == 1, "%d, %d", block[0], block[BLOCK - 1]);
    EXPECT_TIER(block, BLOCK, 0);
    block = half_again(block, BLOCK);
    expect_part(block, BLOCK, BLOCK / 2, BLOCK / 50);
    return finish();
}
