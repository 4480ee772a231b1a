/* Allocates by one of the policies, touches all, and says for each block how many of its pages
 * are on each node: "BLOCK NODE:PAGES ...".  No annotation: the library by itself.
 *
 *   policies spill|weighted|write-heavy|read-mostly MIB BLOCK_KIB [DIRECTORY...]
 *   policies near MIB BLOCK_KIB        the processor near each block
 *   policies detect
 *
 * A refused range: its line on stdout, how many pages are mapped that were not, and status 3. */
#define _GNU_SOURCE
#include "placement.h"
#include <sched.h>
#include <thermocline/policies.h>

enum { NODES = 8 };

static long mapped_pages(void) {
    long pages = 0;
    FILE *statm = fopen("/proc/self/statm", "r");
    if (!statm || fscanf(statm, "%ld", &pages) != 1)
        pages = -1;
    if (statm)
        fclose(statm);
    return pages;
}

static void show_block(const char *start, size_t block, size_t first, size_t end) {
    size_t pages[NODES] = {0};
    for (size_t at = first; at < end; at += PAGE) {
        const int node = node_of(start + at);
        if (node < 0 || node >= NODES) {
            printf("page %zu is on node %d\n", at / PAGE, node);
            exit(1);
        }
        pages[node]++;
    }
    printf("%zu", block);
    for (int node = 0; node < NODES; node++)
        if (pages[node])
            printf(" %d:%zu", node, pages[node]);
    printf("\n");
}

static int detect(void) {
    tc_memory memory;
    if (tc_memory_detect(&memory) != 0) {
        printf("%s\n", tc_policy_error());
        return 3;
    }
    for (unsigned i = 0; i < memory.sockets; i++)
        printf("%d:%d\n", memory.socket[i].fast, memory.socket[i].big);
    return 0;
}

static void show_near(const char *start, size_t block, size_t first) {
    if (tc_run_near(start + first) != 0) {
        printf("%s\n", tc_policy_error());
        exit(1);
    }
    printf("%zu %d\n", block, sched_getcpu());
}

int main(int argc, char **argv) {
    if (argc == 2 && strcmp(argv[1], "detect") == 0)
        return detect();
    if (argc < 4)
        return 2;
    const char *policy = argv[1];
    const size_t bytes = strtoul(argv[2], NULL, 10) * MIB, block = strtoul(argv[3], NULL, 10) << 10;
    const int weighted = strcmp(policy, "weighted") == 0;
    const tc_spill_options spill = {.block_bytes = block, .weighted = weighted};
    const tc_isolation_options isolation = {.block_bytes = block,
                                            .directories = (const char *const *)argv + 4,
                                            .directory_count = (unsigned)argc - 4,
                                            .flags = TC_ALLOW_PAGE_CACHE};
    mapped_pages(); /* stdio's buffer is there now */
    const long before = mapped_pages();
    char *start = strcmp(policy, "write-heavy") == 0   ? tc_write_heavy(bytes, &isolation)
                  : strcmp(policy, "read-mostly") == 0 ? tc_read_mostly(bytes, &isolation)
                                                       : tc_spill(bytes, &spill);
    if (!start) {
        const long after = mapped_pages();
        printf("%s\n%ld pages\n", tc_policy_error(), after - before);
        return 3;
    }
    memset(start, 1, bytes);
    char line[1024];
    numa_maps_line(start, line, sizeof line);
    fprintf(stderr, "%s\n", line);
    const size_t step = block ? block : 2 * MIB;
    for (size_t at = 0; at < bytes; at += step)
        if (strcmp(policy, "near") == 0)
            show_near(start, at / step, at);
        else
            show_block(start, at / step, at, at + step < bytes ? at + step : bytes);
    tc_policy_free(start, bytes);
    return 0;
}
