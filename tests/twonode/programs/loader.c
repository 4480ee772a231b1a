/* dlopen and dlclose of an annotated library: its sites are placed each time it is loaded,
 * and blocks that it made are usable, and where they were, after it is gone. */
#include "placement.h"
#include <dlfcn.h>

static char *fast_in_program(size_t bytes) { return (char *)malloc(bytes); }

enum { TIMES = 4, BLOCKS = 50 };
static char *kept[TIMES][BLOCKS];
static const size_t sizes[] = {40, 600, 9000, 300000};

int main(int argc, char **argv) {
    if (argc != 2)
        return 2;
    for (int time = 0; time < TIMES; ++time) {
        void *library = dlopen(argv[1], RTLD_NOW);
        EXPECT(library != NULL, "%s", dlerror());
        if (!library)
            return finish();
        char *(*library_block)(int, size_t) =
            (char *(*)(int, size_t))dlsym(library, "library_block");
        for (int i = 0; i < BLOCKS; ++i) {
            kept[time][i] = library_block(i % 2, sizes[i % 4]);
            EXPECT_TIER(kept[time][i], sizes[i % 4], i % 2);
        }
        dlclose(library);
        char *own = fast_in_program(5000);
        memset(own, 1, 5000);
        EXPECT_TIER(own, 5000, 0);
        free(own);
        for (int i = 0; i < BLOCKS; ++i) {
            kept[time][i][7] = 1;
            EXPECT_TIER(kept[time][i], sizes[i % 4], i % 2);
            if (i % 3 == 0)
                free(kept[time][i]);
        }
    }
    for (int time = 0; time < TIMES; ++time)
        for (int i = 0; i < BLOCKS; ++i)
            if (i % 3)
                free(kept[time][i]);
    return finish();
}
