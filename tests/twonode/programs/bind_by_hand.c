/* No Thermocline here: binds ranges itself, to show that placement.h's checks see both a
 * right and a wrong placement.  Its last check fails on purpose when asked to. */
#include "placement.h"
#include <sys/mman.h>

enum { PREFERRED = 1 }; /* MPOL_PREFERRED */

int main(int argc, char **argv) {
    const size_t bytes = 2 * MIB;
    for (int node = 0; node < 2; ++node) {
        char *block =
            (char *)mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        const unsigned long mask = 1UL << node;
        EXPECT(syscall(SYS_mbind, block, bytes, PREFERRED, &mask, 8UL, 0UL) == 0, "node %d", node);
        EXPECT(node_of(block) == -1, "a page before first touch");
        memset(block, 1, bytes);
        EXPECT(node_of(block) == node, "node %d", node_of(block));
        EXPECT_TIER(block, bytes, node);
        char line[1024], policy[32];
        numa_maps_line(block, line, sizeof line);
        snprintf(policy, sizeof policy, "prefer:%d", node);
        EXPECT(strstr(line, policy) != NULL, "%s", line);
        if (argc == 2 && strcmp(argv[1], "wrongly") == 0)
            EXPECT_TIER(block, bytes, 1 - node);
    }
    return finish();
}
