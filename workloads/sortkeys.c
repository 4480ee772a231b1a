/* Sorting of whole-number keys by buckets (NAS IS-like).
 *
 * Keys are counted by their upper bits, scattered to as many write positions as there are buckets,
 * and ranked bucket by bucket.  Check: each key is no less than the one before it, and sums and
 * squares of all keys stay.
 *
 *   sortkeys [KEYS [ROUNDS]]
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { BUCKETS = 1024, RANGE_BITS = 22, SHIFT = RANGE_BITS - 10 };

static void *get(size_t count, size_t size) {
    void *block = malloc(count * size);
    if (!block) {
        fprintf(stderr, "sortkeys: out of memory\n");
        exit(1);
    }
    return block;
}

/* Four uniform numbers' mean: most keys lie in the middle, as in NAS IS. */
static uint32_t key_of(uint64_t i) {
    uint64_t x = (i + 1) * 0x9e3779b97f4a7c15u;
    x = (x ^ x >> 31) * 0x7fb5d329728ea185u;
    x ^= x >> 29;
    uint32_t sum = 0;
    for (int part = 0; part < 4; part++)
        sum += (uint32_t)(x >> 16 * part & 0xffff);
    return (uint32_t)((uint64_t)sum << (RANGE_BITS - 18));
}

static void sort(const uint32_t *key, uint32_t *scattered, uint32_t *sorted, size_t n,
                 uint32_t *count) {
    static size_t start[BUCKETS + 1], next[BUCKETS];
    memset(start, 0, sizeof start);
    for (size_t i = 0; i < n; i++)
        start[(key[i] >> SHIFT) + 1]++;
    for (int b = 0; b < BUCKETS; b++)
        start[b + 1] += start[b];
    memcpy(next, start, sizeof next);
    for (size_t i = 0; i < n; i++)
        scattered[next[key[i] >> SHIFT]++] = key[i];
    for (int b = 0; b < BUCKETS; b++) {
        const uint32_t base = (uint32_t)b << SHIFT;
        memset(count, 0, sizeof *count << SHIFT);
        for (size_t i = start[b]; i < start[b + 1]; i++)
            count[scattered[i] - base]++;
        size_t at = start[b];
        for (uint32_t value = 0; value < 1u << SHIFT; value++)
            for (uint32_t c = count[value]; c > 0; c--)
                sorted[at++] = base + value;
    }
}

int main(int argc, char **argv) {
    long keys = argc > 1 ? atol(argv[1]) : 6000000;
    int rounds = argc > 2 ? atoi(argv[2]) : 2;
    if (keys < 1000 || keys > 2000000000 || rounds < 1) {
        fprintf(stderr, "usage: sortkeys [KEYS [ROUNDS]]: 1000 <= KEYS <= 2e9, ROUNDS >= 1\n");
        return 2;
    }
    size_t n = (size_t)keys;
    uint32_t *key = get(n, sizeof *key), *scattered = get(n, sizeof *key);
    uint32_t *sorted = get(n, sizeof *key), *count = get((size_t)1 << SHIFT, sizeof *count);
    uint64_t sum = 0, squares = 0, checksum = 0;
    double seconds = 0;
    int ok = 1;
    for (int round = 0; round < rounds; round++) {
        sum = squares = 0;
        for (size_t i = 0; i < n; i++) {
            key[i] = key_of(i + (uint64_t)round * n);
            sum += key[i];
            squares += (uint64_t)key[i] * key[i];
        }
        struct timespec t0, t1;
        clock_gettime(CLOCK_MONOTONIC, &t0);
        sort(key, scattered, sorted, n, count);
        clock_gettime(CLOCK_MONOTONIC, &t1);
        seconds += (t1.tv_sec - t0.tv_sec) + 1e-9 * (t1.tv_nsec - t0.tv_nsec);
        uint32_t before = 0;
        for (size_t i = 0; i < n; i++) {
            ok &= sorted[i] >= before;
            before = sorted[i];
            sum -= sorted[i];
            squares -= (uint64_t)sorted[i] * sorted[i];
        }
        ok &= sum == 0 && squares == 0;
        for (size_t i = 0; i < n; i += 101)
            checksum = (checksum * 31 + sorted[i]) % 1000000007;
    }
    printf("check: order and sums %s\n", ok ? "right" : "WRONG");
    printf("checksum: %llu\n", (unsigned long long)checksum);
    printf("metric: %.4g keys/s\n", (double)n * rounds / seconds);
    free(key);
    free(scattered);
    free(sorted);
    free(count);
    return !ok;
}
