/* Data that is not heap: globals, stacks and the program's own mappings go to the tier that
 * the plan prefers for them, while the heap's sites keep theirs. */
#include "placement.h"
#include <pthread.h>
#include <sys/mman.h>

static char globals[4 * MIB];

static char *fast_block(size_t bytes) { return (char *)malloc(bytes); }
static char *slow_block(size_t bytes) { return (char *)malloc(bytes); }

static int nonheap_tier;

static void check_stack(void) {
    volatile char frame[256 * 1024];
    for (size_t i = 0; i < sizeof frame; i += PAGE)
        frame[i] = 1;
    /* Its upper end may have been touched before the runtime was there. */
    EXPECT_TIER((const char *)frame, sizeof frame / 2, nonheap_tier);
}

static void *thread(void *unused) {
    check_stack();
    return unused;
}

int main(int argc, char **argv) {
    if (argc != 2)
        return 2;
    nonheap_tier = atoi(argv[1]);
    for (int round = 0; round < 2; ++round) {
        char *fast = fast_block(MIB), *slow = slow_block(MIB);
        memset(fast, 1, MIB);
        memset(slow, 1, MIB);
        EXPECT_TIER(fast, MIB, 0);
        EXPECT_TIER(slow, MIB, 1);
        memset(globals, 1, sizeof globals);
        EXPECT_TIER(globals + PAGE, sizeof globals - 2 * PAGE, nonheap_tier);
        check_stack();
        void *mapping = mmap(NULL, MIB, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        memset(mapping, 1, MIB);
        EXPECT_TIER(mapping, MIB, nonheap_tier);
        pthread_t id;
        if (pthread_create(&id, NULL, thread, NULL) == 0)
            pthread_join(id, NULL);
    }
    return finish();
}
