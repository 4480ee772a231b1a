/* placement.h's checks, for fields.f90 to call. */
#include "placement.h"

void expect_tier(const void *block, size_t bytes, int tier);
void expect_tier(const void *block, size_t bytes, int tier) { EXPECT_TIER(block, bytes, tier); }

int finish_test(void);
int finish_test(void) {
    const int status = finish();
    fflush(stdout);
    return status;
}
