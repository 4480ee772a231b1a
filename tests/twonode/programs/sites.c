/* Every allocation routine of C, at sites of both tiers and at one that no plan names. */
#include "placement.h"

static void *fast_malloc(size_t bytes) { return malloc(bytes); }
static void *slow_malloc(size_t bytes) { return malloc(bytes); }
static void *unplanned_malloc(size_t bytes) { return malloc(bytes); }
static void *fast_calloc(size_t bytes) { return calloc(bytes / 4, 4); }
static void *slow_calloc(size_t bytes) { return calloc(bytes / 4, 4); }
static void *fast_aligned(size_t bytes) { return aligned_alloc(256, (bytes + 255) & ~255UL); }
static void *slow_aligned(size_t bytes) {
    void *block = NULL;
    return posix_memalign(&block, 8192, bytes) ? NULL : block;
}
static void *fast_realloc(size_t bytes) { return realloc(NULL, bytes); }
static void *slow_realloc(size_t bytes) { return realloc(NULL, bytes); }
static void *fast_strdup(size_t bytes) {
    char text[4096];
    memset(text, 'x', sizeof text);
    text[bytes < sizeof text ? bytes - 1 : sizeof text - 1] = 0;
    return strdup(text);
}

struct routine {
    const char *name;
    void *(*allocate)(size_t);
    int tier;
};
static const struct routine routines[] = {
    {"malloc", fast_malloc, 0},         {"malloc", slow_malloc, 1},
    {"calloc", fast_calloc, 0},         {"calloc", slow_calloc, 1},
    {"aligned_alloc", fast_aligned, 0}, {"posix_memalign", slow_aligned, 1},
    {"realloc", fast_realloc, 0},       {"realloc", slow_realloc, 1},
    {"strdup", fast_strdup, 0},         {"malloc, unplanned", unplanned_malloc, 1},
};
enum { ROUTINES = sizeof routines / sizeof *routines, EACH = 8 };

int main(void) {
    static const size_t sizes[] = {16, 100, 1000, 5000, 70000, 3 * MIB, 20 * MIB};
    for (size_t s = 0; s < sizeof sizes / sizeof *sizes; ++s) {
        /* Interleaved, so that neighbours of different tiers would share pages if they could. */
        char *blocks[EACH][ROUTINES];
        const int each = sizes[s] > MIB ? 1 : EACH;
        for (int i = 0; i < each; ++i)
            for (int r = 0; r < ROUTINES; ++r) {
                const int short_text = routines[r].allocate == fast_strdup && sizes[s] > 4000;
                blocks[i][r] = short_text ? NULL : (char *)routines[r].allocate(sizes[s]);
                if (blocks[i][r])
                    memset(blocks[i][r], 1, sizes[s]);
            }
        for (int i = 0; i < each; ++i)
            for (int r = 0; r < ROUTINES; ++r) {
                if (!blocks[i][r])
                    continue;
                const int before = failures;
                EXPECT_TIER(blocks[i][r], sizes[s], routines[r].tier);
                expect_policy(blocks[i][r], routines[r].tier);
                EXPECT(failures == before, "%s of %zu bytes in tier %d", routines[r].name, sizes[s],
                       routines[r].tier);
                free(blocks[i][r]);
            }
    }
    return finish();
}
