/* Nanoseconds of processor time to allocate a range, and to touch all of it, by one way:
 *
 *   policies plain|spill|weighted|blocks MIB
 *
 * "blocks": as many mappings as a spilled range has where there are several nodes.  One node's
 * policies are equal and the kernel joins their mappings, so here two that differ take turns. */
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <thermocline/policies.h>
#include <time.h>
#include <unistd.h>

enum { PREFERRED = 1, PREFERRED_MANY = 5, PAGE = 4096, BLOCK = 2 << 20 };

static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

static void *map_plainly(size_t bytes) {
    void *p = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    return p == MAP_FAILED ? NULL : p;
}

static void *map_blocks(size_t bytes) {
    /* Aligned to blocks, as the library's are. */
    char *p = map_plainly(bytes + BLOCK);
    if (!p)
        return NULL;
    p += -(size_t)p & (BLOCK - 1);
    const unsigned long node0 = 1;
    for (size_t at = 0, block = 0; at < bytes; at += BLOCK, block++)
        if (syscall(SYS_mbind, p + at, (size_t)BLOCK, block & 1 ? PREFERRED_MANY : PREFERRED,
                    &node0, 8UL, 0UL) != 0)
            return NULL;
    return p;
}

int main(int argc, char **argv) {
    if (argc != 3)
        return 2;
    const size_t bytes = strtoul(argv[2], NULL, 10) << 20;
    tc_memory memory;
    if (tc_memory_parse(&memory, "0:- weights 70:30") != 0)
        return 1;
    const tc_spill_options weighted = {&memory, 0, 1};
    const double start = now();
    char *p = strcmp(argv[1], "plain") == 0 ? map_plainly(bytes)
              : strcmp(argv[1], "blocks") == 0
                  ? map_blocks(bytes)
                  : tc_spill(bytes, argv[1][0] == 'w' ? &weighted : NULL);
    const double allocated = now();
    if (!p)
        return fprintf(stderr, "%s\n", tc_policy_error()), 1;
    for (size_t at = 0; at < bytes; at += PAGE)
        p[at] = 1;
    printf("%.0f %.0f\n", allocated - start, now() - start);
    return 0;
}
