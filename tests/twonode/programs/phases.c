/* Two arrays, of which one is hot until /job/next is there, and then the one that the argument
 * names (first or second) until /job/stop is there.  At the end the hot one is in tier 0 and the
 * other in tier 1: so it must have been moved there if it is the second. */
#include "placement.h"

enum { BYTES = 8 * MIB, LINE = 64 };

static char *first_array(void) { return (char *)malloc(BYTES); }
static char *second_array(void) { return (char *)malloc(BYTES); }

OWN_SITE void use(volatile char *array, const char *until) {
    while (access(until, F_OK) != 0)
        for (size_t at = 0; at < BYTES; at += LINE)
            array[at]++;
}

int main(int argc, char **argv) {
    if (argc != 2)
        return 2;
    char *first = first_array(), *second = second_array();
    memset(first, 1, BYTES);
    memset(second, 1, BYTES);
    const int moves = strcmp(argv[1], "second") == 0;
    use(first, "/job/next");
    EXPECT_TIER(first, BYTES, 0);
    EXPECT_TIER(second, BYTES, 1);
    use(moves ? second : first, "/job/stop");
    EXPECT_TIER(first, BYTES, moves);
    EXPECT_TIER(second, BYTES, !moves);
    /* What the site gets from now on goes where it belongs, too. */
    char *more = moves ? second_array() : first_array();
    memset(more, 1, BYTES);
    EXPECT_TIER(more, BYTES, 0);
    return finish();
}
