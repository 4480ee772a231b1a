/* Below the migration engine, under a plan: what stays near is in place on node 0, what stays far
 * is in place on node 1, and of the rest no more is in place than fits near beside them. */
#include "placement.h"
#include <stdint.h>

enum { FAST = 3 * MIB, SLOW = 12 * MIB, OTHER = 20 * MIB };

OWN_SITE char *fast_data(void) { return aligned_alloc(PAGE, FAST); }
OWN_SITE char *slow_data(void) { return aligned_alloc(PAGE, SLOW); }
OWN_SITE char *other_data(void) { return aligned_alloc(PAGE, OTHER); }

static uint64_t pass(volatile char *data, size_t bytes) {
    uint64_t sum = 0;
    for (size_t at = 0; at < bytes; at += 512)
        sum = sum * 31 + (unsigned char)++data[at];
    return sum;
}

static size_t in_place(const char *data, size_t bytes) {
    size_t found = 0;
    for (size_t at = 0; at < bytes; at += PAGE)
        found += node_of(data + at) >= 0 ? PAGE : 0;
    return found;
}

int main(int count, char **arguments) {
    const size_t near = count > 1 ? (size_t)atol(arguments[1]) : 0;
    char *fast = fast_data(), *slow = slow_data(), *other = other_data();
    uint64_t sum = 0;
    for (int round = 0; round < 3; round++) {
        sum += pass(fast, FAST) + pass(slow, SLOW) + pass(other, OTHER);
        /* Memory that is filled quickly is noticed late. */
        while (near && in_place(other, OTHER) + FAST > near)
            usleep(10000);
        for (size_t at = 0; near && at < FAST; at += PAGE)
            EXPECT(node_of(fast + at) == 0, "byte %zu on node %d", at, node_of(fast + at));
        for (size_t at = 0; near && at < SLOW; at += PAGE)
            EXPECT(node_of(slow + at) == 1, "byte %zu on node %d", at, node_of(slow + at));
    }
    printf("sum %lx\n", (unsigned long)sum);
    return finish();
}
