/* Random updates of one large table (RandomAccess-like, GUPS).
 *
 * Single words at random, read and written, from a generator whose state depends on nothing that is
 * read: as many misses as the machine can have on their way.  Check: the same updates (exclusive
 * or) a second time give the table back.
 *
 *   updates [WORDS [UPDATES]]     UPDATES, made twice, of a table of WORDS
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static void update(uint64_t *table, uint64_t words, uint64_t updates) {
    uint64_t state = 88172645463325252u;
    for (uint64_t i = 0; i < updates; i++) {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        /* The upper half of the product: as good as a remainder, without a division. */
        table[(uint64_t)((__uint128_t)state * words >> 64)] ^= state;
    }
}

int main(int argc, char **argv) {
    long words = argc > 1 ? atol(argv[1]) : 8000000;
    long updates = argc > 2 ? atol(argv[2]) : words / 2;
    if (words < 1000 || words > 4000000000 || updates < 1) {
        fprintf(stderr, "usage: updates [WORDS [UPDATES]]: 1000 <= WORDS <= 4e9, UPDATES >= 1\n");
        return 2;
    }
    uint64_t *table = malloc(words * sizeof *table);
    if (!table) {
        fprintf(stderr, "updates: out of memory\n");
        return 1;
    }
    for (long i = 0; i < words; i++)
        table[i] = i;
    struct timespec t0, t1;
    clock_gettime(CLOCK_MONOTONIC, &t0);
    update(table, words, updates);
    clock_gettime(CLOCK_MONOTONIC, &t1);
    double seconds = (t1.tv_sec - t0.tv_sec) + 1e-9 * (t1.tv_nsec - t0.tv_nsec);
    uint64_t sum = 0;
    for (long i = 0; i < words; i++)
        sum = sum * 31 + table[i];
    update(table, words, updates);
    int ok = 1;
    for (long i = 0; i < words; i++)
        ok &= table[i] == (uint64_t)i;
    printf("check: table %s\n", ok ? "right" : "WRONG");
    printf("checksum: %llu\n", (unsigned long long)sum);
    printf("metric: %.4g updates/s\n", updates / seconds);
    free(table);
    return !ok;
}
