// Touches memory of three sites, two of which have the same addresses one after the other, and with
// --samples says so as `perf script` would: an oracle for `thermocline import`.
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { page = 4096, line = 64 };
static FILE *samples;

static uint64_t now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (uint64_t)time.tv_sec * 1000000000u + (uint64_t)time.tv_nsec;
}

// One load in `period` that memory served.
static void say(const volatile char *at, unsigned period) {
    if (!samples)
        return;
    const uint64_t time = now();
    fprintf(samples, "outside %d/%d %llu.%09llu: %u cpu/mem-loads,ldlat=30/P: %llx %s 300\n",
            getpid(), getpid(), (unsigned long long)(time / 1000000000u),
            (unsigned long long)(time % 1000000000u), period, (unsigned long long)(uintptr_t)at,
            "1a68101042 |OP LOAD|LVL Local RAM hit|SNP None|TLB L1 or L2 hit|LCK No|BLK N/A");
}

static void touch(volatile char *block, size_t pages, unsigned period) {
    for (size_t i = 0; i < pages; i++) {
        block[i * page] = 1;
        say(block + i * page + line, period);
    }
}

__attribute__((noinline)) static char *first(size_t pages) { return malloc(pages * page); }
__attribute__((noinline)) static char *second(size_t pages) { return malloc(pages * page); }
__attribute__((noinline)) static char *kept(size_t pages) { return malloc(pages * page); }
// Blocks as small as these lie among other sites'.
__attribute__((noinline)) static char *small(void) { return malloc(250); }
__attribute__((noinline)) static char *smaller(void) { return malloc(249); }

int main(int argc, char **argv) {
    samples = argc > 1 ? fopen(argv[1], "w") : NULL;
    char *stays = kept(512), *before = first(1024);
    touch(stays, 512, 10);
    touch(before, 1024, 20);
    const uintptr_t was = (uintptr_t)before;
    free(before);
    char *after = second(1024), *tiny = small();
    touch(after, 1024, 30);
    say(tiny, 7);
    const uintptr_t tiny_was = (uintptr_t)tiny;
    free(tiny);
    for (int i = 0; i < 600; i++) // until the freed one's turn comes
        if ((uintptr_t)(tiny = smaller()) == tiny_was)
            break;
    tiny[0] = stays[0];
    say(tiny, 5);
    const int same = (uintptr_t)after == was && (uintptr_t)tiny == tiny_was;
    printf("%s\n", same ? "the same addresses" : "other addresses");
    if (samples)
        fclose(samples);
    return tiny[0] == 1 ? 0 : 1;
}
