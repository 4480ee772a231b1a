/* Allocates along 64 call paths: preload ALLOCATIONS WORK [backtrace].
 *
 * WORK is done between two allocations; with "backtrace" each asks the C library for its path
 * first, as a tool without a cache does.  Prints the processor seconds that it took. */
#include <execinfo.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { LIVE = 1024, DEPTH = 6, FRAMES = 5 };

static void *live[LIVE];
static int ask;
static volatile uint64_t sink;

static void *left(unsigned path, int depth);
static void *right(unsigned path, int depth);

__attribute__((noinline)) static void *bottom(size_t size) {
    void *frames[FRAMES + 1];
    if (ask)
        sink += (uintptr_t)frames[backtrace(frames, FRAMES + 1) - 1];
    char *block = malloc(size);
    block[0] = 1;
    return block;
}
__attribute__((noinline)) static void *left(unsigned path, int depth) {
    volatile int kept = depth;
    void *block = depth == 0  ? bottom(16 + path % 100)
                  : path & 1u ? left(path >> 1, depth - 1)
                              : right(path >> 1, depth - 1);
    kept++;
    return block;
}
__attribute__((noinline)) static void *right(unsigned path, int depth) {
    volatile int kept[4] = {depth};
    void *block = depth == 0  ? bottom(32 + path % 100)
                  : path & 1u ? left(path >> 1, depth - 1)
                              : right(path >> 1, depth - 1);
    kept[1]++;
    return block;
}

int main(int argc, char **argv) {
    const long count = argc > 1 ? atol(argv[1]) : 0, work = argc > 2 ? atol(argv[2]) : 0;
    ask = argc > 3;
    uint64_t state = 1;
    for (long i = 0; i < count; i++) {
        for (long j = 0; j < work; j++)
            state = state * 6364136223846793005u + 1442695040888963407u;
        free(live[i % LIVE]);
        live[i % LIVE] = left((unsigned)(i % 64), DEPTH);
    }
    sink += state;
    struct timespec used;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &used);
    fprintf(stderr, "%.6f\n", (double)used.tv_sec + (double)used.tv_nsec * 1e-9);
    return 0;
}
