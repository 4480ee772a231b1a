/* STREAM-like kernels on three arrays, then random updates of a table.
 *
 * The two extremes of access: long sequential reads and writes, and single words at
 * random.  Checks: the arrays have the values that follow from the kernels' arithmetic,
 * and the same updates (exclusive or) a second time give the table back.
 *
 *   stream [ELEMENTS [ROUNDS [WORDS]]]     ELEMENTS of each array; WORDS of the table: half as
 *                                          many, or 0: no updates
 */
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static void *array(size_t count, size_t size) {
    void *block = malloc(count * size);
    if (!block) {
        fprintf(stderr, "stream: out of memory\n");
        exit(1);
    }
    return block;
}

static void update(uint64_t *table, size_t words, size_t updates, uint64_t seed) {
    for (size_t i = 0; i < updates; i++) {
        seed ^= seed << 13;
        seed ^= seed >> 7;
        seed ^= seed << 17;
        table[seed % words] ^= seed;
    }
}

int main(int argc, char **argv) {
    long n = argc > 1 ? atol(argv[1]) : 4000000;
    int rounds = argc > 2 ? atoi(argv[2]) : 3;
    long asked = argc > 3 ? atol(argv[3]) : n / 2;
    if (n < 1000 || n > 4000000000 || rounds < 1 || asked < 0 || asked > 4000000000) {
        fprintf(stderr, "usage: stream [ELEMENTS [ROUNDS [WORDS]]]: 1000 <= ELEMENTS <= 4e9, "
                        "ROUNDS >= 1, 0 <= WORDS <= 4e9\n");
        return 2;
    }
    double *a = array(n, sizeof *a), *b = array(n, sizeof *b), *c = array(n, sizeof *c);
    size_t words = asked;
    uint64_t *table = array(words + 1, sizeof *table);
    struct timespec t0, t1;
#pragma omp parallel for
    for (long i = 0; i < n; i++) {
        a[i] = 1;
        b[i] = 2;
        c[i] = 0;
    }
    for (size_t i = 0; i < words; i++)
        table[i] = i;
    clock_gettime(CLOCK_MONOTONIC, &t0);
    for (int round = 0; round < rounds; round++) {
#pragma omp parallel for
        for (long i = 0; i < n; i++)
            c[i] = a[i];
#pragma omp parallel for
        for (long i = 0; i < n; i++)
            b[i] = 0.5 * c[i];
#pragma omp parallel for
        for (long i = 0; i < n; i++)
            c[i] = a[i] + b[i];
#pragma omp parallel for
        for (long i = 0; i < n; i++)
            a[i] = b[i] + 0.25 * c[i];
    }
    clock_gettime(CLOCK_MONOTONIC, &t1);
    double seconds = (t1.tv_sec - t0.tv_sec) + 1e-9 * (t1.tv_nsec - t0.tv_nsec);
    double ea = 1, eb = 2, ec = 0;
    for (int round = 0; round < rounds; round++) {
        ec = ea;
        eb = 0.5 * ec;
        ec = ea + eb;
        ea = eb + 0.25 * ec;
    }
    int ok = 1;
    for (long i = 0; i < n; i++)
        ok &= a[i] == ea && b[i] == eb && c[i] == ec;
    double sum = 0;
    update(table, words, words, 88172645463325252u);
    for (size_t i = 0; i < words; i++)
        sum += (double)(table[i] >> 40);
    update(table, words, words, 88172645463325252u);
    for (size_t i = 0; i < words; i++)
        ok &= table[i] == i;
    printf("check: arrays and table %s\n", ok ? "right" : "WRONG");
    printf("checksum: %.10e\n", sum + ea + eb + ec);
    printf("metric: %.4g bytes/s\n", 10.0 * sizeof(double) * n * rounds / seconds);
    free(a);
    free(b);
    free(c);
    free(table);
    return !ok;
}
