/* What the test programs ask the kernel: on which node a page is, under which policy.
 *
 * By convention an allocation in a function named fast_* is planned into tier 0, in
 * slow_* into tier 1, in half_* evenly into both, and any other is left to the default tier
 * (tests/twonode/plan.py writes that plan).  The environment says which nodes a tier is: TIER0=1
 * TIER1=0,2.
 */
#pragma once
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { PAGE = 4096, MIB = 1 << 20 };

/* For allocations in both arms of a branch: inlined there, LLVM makes one call, and so one
 * site, of two equal ones. */
#define OWN_SITE __attribute__((noinline)) static

static int failures;

/* Says what was expected, for the first failures; the rest are counted. */
#define EXPECT(condition, ...)                                                                     \
    do {                                                                                           \
        if (!(condition) && __atomic_add_fetch(&failures, 1, __ATOMIC_RELAXED) <= 20) {            \
            printf("%s:%d: expected %s: ", __FILE__, __LINE__, #condition);                        \
            printf(__VA_ARGS__);                                                                   \
            printf("\n");                                                                          \
        }                                                                                          \
    } while (0)

/* The node of the page that holds `address`, or -1 while no page is there. */
static inline int node_of(const void *address) {
    void *page = (void *)((unsigned long)address & -(unsigned long)PAGE);
    int node = -1;
    if (syscall(SYS_move_pages, 0, 1UL, &page, NULL, &node, 0) != 0)
        return -1;
    return node < 0 ? -1 : node;
}

static inline int tier_has(int tier, int node) {
    char name[16];
    snprintf(name, sizeof name, "TIER%d", tier);
    const char *list = getenv(name);
    for (; list && *list; list += strcspn(list, ","), list += *list == ',')
        if (atoi(list) == node)
            return 1;
    return 0;
}

/* How many bytes of a block are resident on any of the tier's nodes. */
static inline size_t bytes_on_tier(const void *block, size_t bytes, int tier) {
    size_t found = 0;
    const char *end = (const char *)block + bytes;
    for (const char *at = (const char *)block; at < end;) {
        const char *next = (const char *)(((unsigned long)at | (PAGE - 1)) + 1);
        if (next > end)
            next = end;
        if (tier_has(tier, node_of(at)))
            found += (size_t)(next - at);
        at = next;
    }
    return found;
}

#define EXPECT_TIER(block, bytes, tier)                                                            \
    do {                                                                                           \
        const size_t there = bytes_on_tier(block, bytes, tier);                                    \
        EXPECT(there == (size_t)(bytes),                                                           \
               "%zu of %zu bytes at %p are in tier %d, the first on "                              \
               "node %d",                                                                          \
               there, (size_t)(bytes), (const void *)(block), tier, node_of(block));               \
    } while (0)

/* The kernel's line of /proc/self/numa_maps for the mapping that holds `address`. */
static inline void numa_maps_line(const void *address, char *line, size_t size) {
    char next[1024];
    line[0] = 0;
    FILE *maps = fopen("/proc/self/numa_maps", "r");
    while (maps && fgets(next, sizeof next, maps))
        if (strtoul(next, NULL, 16) <= (unsigned long)address) {
            next[strcspn(next, "\n")] = 0;
            snprintf(line, size, "%s", next);
        }
    if (maps)
        fclose(maps);
}

/* The policy must be a preference (not a binding, which would fail when the tier is full) for
 * the tier's nodes: POLICY0=prefer:1, as the kernel spells it. */
static inline void expect_policy(const void *block, int tier) {
    char name[16], line[1024];
    snprintf(name, sizeof name, "POLICY%d", tier);
    const char *policy = getenv(name);
    numa_maps_line(block, line, sizeof line);
    EXPECT(policy && strstr(line, policy), "%s in tier %d", line, tier);
}

static inline int finish(void) {
    if (failures)
        printf("FAILED: %d checks\n", failures);
    else
        printf("ok\n");
    return failures != 0;
}
