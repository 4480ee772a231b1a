/* Two arrays, one touched until /job/stop is there and one once.  `heat check` does not wait, and
 * expects the hot one in tier 0 and the cold one in tier 1, whatever it was guided by. */
#include "placement.h"

enum { BYTES = 8 * MIB, LINE = 64 };

OWN_SITE char *hot_array(void) { return (char *)malloc(BYTES); }
OWN_SITE char *cold_array(void) { return (char *)malloc(BYTES); }

OWN_SITE void use(volatile char *array) {
    for (size_t at = 0; at < BYTES; at += LINE)
        array[at]++;
}

int main(int argc, char **argv) {
    char *cold = cold_array(), *hot = hot_array();
    memset(cold, 1, BYTES);
    memset(hot, 1, BYTES);
    const int check = argc > 1 && strcmp(argv[1], "check") == 0;
    do {
        use(hot);
        usleep(10000);
    } while (!check && access("/job/stop", F_OK) != 0);
    if (check) {
        EXPECT_TIER(hot, BYTES, 0);
        EXPECT_TIER(cold, BYTES, 1);
    }
    free(hot);
    free(cold);
    return finish();
}
