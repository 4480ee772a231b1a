/* Data of four times what is near, below the migration engine: what was used last is in place, on
 * a node of tier 0; the rest is out of reach until it is touched, on tier 1.  The kernel says so.
 *
 * managed BYTES HOT_BYTES FAR_BYTES: waits until so much is far; 0 and 0 without an engine. */
#include "placement.h"
#include <stdint.h>
#include <sys/mman.h>

static uint64_t value(size_t at) { return (at + 1) * 0x9e3779b97f4a7c15; }

/* Pages on node 1, and those beside them on node 0, by /proc/self/numa_maps: of the mapping where
 * the engine keeps what is out of reach. */
static void count_out_of_reach(size_t pages[2]) {
    char line[1024];
    FILE *maps = fopen("/proc/self/numa_maps", "r");
    while (maps && fgets(line, sizeof line, maps)) {
        const char *const far = strstr(line, " N1="), *const near = strstr(line, " N0=");
        if (far && !strstr(line, "file=")) {
            pages[0] += near ? strtoul(near + 4, NULL, 10) : 0;
            pages[1] += strtoul(far + 4, NULL, 10);
        }
    }
    if (maps)
        fclose(maps);
}

int main(int count, char **arguments) {
    if (count < 4)
        return 2;
    const size_t bytes = (size_t)atol(arguments[1]), hot = (size_t)atol(arguments[2]),
                 far = (size_t)atol(arguments[3]);
    const size_t words = bytes / sizeof(uint64_t);
    uint64_t *data = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (data == MAP_FAILED)
        return 2;
    for (size_t at = 0; at < words; at++)
        data[at] = value(at);
    while (hot && node_of(data) >= 0)
        usleep(10000); /* memory that is filled quickly is noticed late */
    uint64_t state = 1, sum = 0;
    for (int step = 0; step < 60; step++) { /* here and there, written too */
        state = state * 6364136223846793005 + 1442695040888963407;
        const size_t at = (state >> 20) % words;
        EXPECT(data[at] == value(at), "word %zu is %lx", at, (unsigned long)data[at]);
        data[at] = value(at);
    }
    for (size_t at = 0; at < words; at++) {
        EXPECT(data[at] == value(at), "word %zu is %lx", at, (unsigned long)data[at]);
        sum += data[at];
    }
    for (int round = 0; round < 4; round++)
        for (size_t at = 0; at < hot / sizeof(uint64_t); at += PAGE / sizeof(uint64_t))
            (void)((volatile uint64_t *)data)[at];
    size_t in_place = 0, pages[2];
    for (;;) { /* the engine makes room ahead of need */
        pages[0] = pages[1] = 0;
        count_out_of_reach(pages);
        if (pages[1] * PAGE >= far)
            break;
        usleep(10000);
    }
    for (size_t at = 0; at < bytes; at += PAGE) {
        const int node = node_of((char *)data + at);
        in_place += node == 0;
        EXPECT(node <= 0 && (at >= hot || node == 0), "byte %zu is on node %d", at, node);
    }
    printf("sum %lx\nin place %zu\nout of reach, node 0 %zu\nout of reach, node 1 %zu\n",
           (unsigned long)sum, in_place * PAGE, pages[0] * PAGE, pages[1] * PAGE);
    return finish();
}
