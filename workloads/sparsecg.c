/* Conjugate gradients on a random sparse matrix (NAS CG-like).
 *
 * The matrix is symmetric, its entries are anywhere in their rows, and a strong diagonal makes it
 * positive definite: each iteration reads all of it in order and gathers a vector at random.
 * Check: the residual, computed anew from the solution, which is known.
 *
 *   sparsecg [ROWS [PAIRS [ITERATIONS]]]     PAIRS of entries a row, on both sides of the diagonal
 */
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

typedef struct {
    int rows;
    long *start;
    int *column;
    double *value;
} Matrix;

static void *get(size_t count, size_t size) {
    void *block = calloc(count, size);
    if (!block) {
        fprintf(stderr, "sparsecg: out of memory\n");
        exit(1);
    }
    return block;
}

/* Pair number `k` of a row: the other row, by a mix of both numbers. */
static int partner(int row, int k, int rows) {
    uint64_t x = ((uint64_t)row << 20 | k) * 0x9e3779b97f4a7c15u;
    x = (x ^ x >> 31) * 0x7fb5d329728ea185u;
    return (int)((x >> 33) % rows);
}

static double weight(int k) { return -1.0 / (1 + k % 7); }

static Matrix random_matrix(int rows, int pairs) {
    Matrix m = {rows, get(rows + 1, sizeof(long)), NULL, NULL};
    for (int row = 0; row < rows; row++)
        for (int k = 0; k < pairs; k++) {
            m.start[row + 1]++;
            m.start[partner(row, k, rows) + 1]++;
        }
    for (int row = 0; row < rows; row++)
        m.start[row + 1] += m.start[row] + 1; /* and the diagonal */
    m.column = get(m.start[rows], sizeof(int));
    m.value = get(m.start[rows], sizeof(double));
    long *next = get(rows, sizeof(long));
    for (int row = 0; row < rows; row++) {
        next[row] = m.start[row] + 1;
        m.column[m.start[row]] = row;
        m.value[m.start[row]] = 1;
    }
    for (int row = 0; row < rows; row++)
        for (int k = 0; k < pairs; k++) {
            int other = partner(row, k, rows);
            m.column[next[row]] = other;
            m.value[next[row]++] = weight(k);
            m.column[next[other]] = row;
            m.value[next[other]++] = weight(k);
            m.value[m.start[row]] -= weight(k);
            m.value[m.start[other]] -= weight(k);
        }
    free(next);
    return m;
}

static void multiply(const Matrix *m, const double *x, double *y) {
#pragma omp parallel for schedule(static)
    for (int row = 0; row < m->rows; row++) {
        double sum = 0;
        for (long at = m->start[row]; at < m->start[row + 1]; at++)
            sum += m->value[at] * x[m->column[at]];
        y[row] = sum;
    }
}

static double dot(const double *a, const double *b, int n) {
    double sum = 0;
    for (int i = 0; i < n; i++)
        sum += a[i] * b[i];
    return sum;
}

int main(int argc, char **argv) {
    long rows = argc > 1 ? atol(argv[1]) : 20000;
    int pairs = argc > 2 ? atoi(argv[2]) : 128;
    int iterations = argc > 3 ? atoi(argv[3]) : 25;
    if (rows < 100 || rows > 100000000 || pairs < 1 || pairs > 4096 || iterations < 1) {
        fprintf(stderr, "usage: sparsecg [ROWS [PAIRS [ITERATIONS]]]: 100 <= ROWS <= 1e8, "
                        "1 <= PAIRS <= 4096, ITERATIONS >= 1\n");
        return 2;
    }
    int n = (int)rows;
    Matrix m = random_matrix(n, pairs);
    double *x = get(n, sizeof(double)), *r = get(n, sizeof(double)), *p = get(n, sizeof(double));
    double *q = get(n, sizeof(double)), *known = get(n, sizeof(double));
    for (int i = 0; i < n; i++)
        known[i] = 1 + i % 5;
    multiply(&m, known, r);
    double first = dot(r, r, n), rho = first;
    for (int i = 0; i < n; i++)
        p[i] = r[i];
    struct timespec t0, t1;
    clock_gettime(CLOCK_MONOTONIC, &t0);
    for (int it = 0; it < iterations && rho > 1e-24 * first; it++) {
        multiply(&m, p, q);
        double alpha = rho / dot(p, q, n);
        for (int i = 0; i < n; i++) {
            x[i] += alpha * p[i];
            r[i] -= alpha * q[i];
        }
        double before = rho;
        rho = dot(r, r, n);
        for (int i = 0; i < n; i++)
            p[i] = r[i] + rho / before * p[i];
    }
    clock_gettime(CLOCK_MONOTONIC, &t1);
    double seconds = (t1.tv_sec - t0.tv_sec) + 1e-9 * (t1.tv_nsec - t0.tv_nsec);
    for (int i = 0; i < n; i++)
        p[i] = known[i] - x[i];
    multiply(&m, p, q); /* what is left of the right-hand side */
    double left = dot(q, q, n), apart = fabs(left - rho);
    int ok = apart <= 1e-9 * first && left < first;
    printf("check: residual %s\n", ok ? "right" : "WRONG");
    printf("checksum: %.10e\n", dot(x, known, n));
    printf("metric: %.4g nonzeros/s\n", (double)m.start[n] * iterations / seconds);
    return !ok;
}
