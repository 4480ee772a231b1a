/* Conjugate gradients preconditioned by an algebraic multigrid V-cycle on CSR matrices
 * (AMG-like).
 *
 * The setup aggregates strongly coupled rows and forms Galerkin products level by
 * level, as proxy applications of this kind do: every array comes from one allocation
 * routine, which is reached from many call paths.  The check is the true residual.
 *
 *   multigrid [EDGE [RUNS]]     EDGE^3 unknowns
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { MAX_LEVELS = 12, COARSEST = 64 };

static void *get_memory(size_t count, size_t size) {
    void *block = calloc(count ? count : 1, size);
    if (!block) {
        fprintf(stderr, "multigrid: out of memory\n");
        exit(1);
    }
    return block;
}

typedef struct {
    int rows;
    int *start, *column;
    double *value;
} Matrix;

typedef struct {
    Matrix a;
    int *aggregate;                    /* coarse row of each row */
    double *diagonal;                  /* inverted */
    double *right, *solution, *remain; /* vectors of the V-cycle */
} Level;

static double *new_vector(int n) { return get_memory(n, sizeof(double)); }

static Matrix new_matrix(int rows, int entries) {
    Matrix m = {rows, get_memory(rows + 1, sizeof(int)), get_memory(entries, sizeof(int)),
                get_memory(entries, sizeof(double))};
    return m;
}

static void free_matrix(Matrix *m) {
    free(m->start);
    free(m->column);
    free(m->value);
}

/* A 7-point diffusion operator whose coefficient jumps between blocks of the domain.
 * Each face has one coefficient, so that the matrix is symmetric. */
static double face(int x, int y, int z, int edge) {
    int block = (2 * x / edge) + 2 * (2 * y / edge) + 4 * (2 * z / edge);
    return block % 3 == 0 ? 1.0 : block % 3 == 1 ? 10.0 : 0.1;
}

static Matrix build_problem(int edge) {
    int n = edge * edge * edge;
    Matrix m = new_matrix(n, 7 * n);
    const int step[3] = {1, edge, edge * edge};
    int at = 0;
    for (int row = 0; row < n; row++) {
        int p[3] = {row % edge, row / edge % edge, row / edge / edge};
        int own = at++;
        double sum = 0;
        m.column[own] = row;
        for (int d = 0; d < 3; d++) {
            for (int side = -1; side <= 1; side += 2) {
                int q[3] = {p[0], p[1], p[2]};
                if (side > 0)
                    q[d]++;
                double k = face(q[0], q[1], q[2], edge);
                sum += k;
                if (p[d] + side < 0 || p[d] + side >= edge)
                    continue; /* a wall at value 0 */
                m.column[at] = row + side * step[d];
                m.value[at++] = -k;
            }
        }
        m.value[own] = sum;
        m.start[row + 1] = at;
    }
    return m;
}

/* Greedy aggregation: a row joins an aggregate of its strong neighbours or starts one. */
static int aggregate_rows(const Matrix *a, int *aggregate) {
    int count = 0;
    for (int i = 0; i < a->rows; i++)
        aggregate[i] = -1;
    for (int i = 0; i < a->rows; i++) {
        double strongest = 0;
        int free_neighbours = 1, best = -1;
        double best_value = 0;
        if (aggregate[i] >= 0)
            continue;
        for (int k = a->start[i]; k < a->start[i + 1]; k++)
            if (a->column[k] != i && -a->value[k] > strongest)
                strongest = -a->value[k];
        for (int k = a->start[i]; k < a->start[i + 1]; k++) {
            int j = a->column[k];
            if (j == i || -a->value[k] < 0.25 * strongest)
                continue;
            if (aggregate[j] < 0)
                free_neighbours++;
            else if (-a->value[k] > best_value) {
                best_value = -a->value[k];
                best = aggregate[j];
            }
        }
        if (free_neighbours <= 2 && best >= 0) {
            aggregate[i] = best;
            continue;
        }
        aggregate[i] = count;
        for (int k = a->start[i]; k < a->start[i + 1]; k++)
            if (aggregate[a->column[k]] < 0 && -a->value[k] >= 0.25 * strongest)
                aggregate[a->column[k]] = count;
        count++;
    }
    return count;
}

/* The Galerkin product P^T A P, where P is the piecewise constant of the aggregates. */
static Matrix coarsen(const Matrix *a, const int *aggregate, int coarse) {
    int *member_start = get_memory(coarse + 1, sizeof(int));
    int *member = get_memory(a->rows, sizeof(int));
    int *slot = get_memory(coarse, sizeof(int));
    Matrix c = new_matrix(coarse, a->start[a->rows]);
    int at = 0;
    for (int i = 0; i < a->rows; i++)
        member_start[aggregate[i] + 1]++;
    for (int g = 0; g < coarse; g++) {
        member_start[g + 1] += member_start[g];
        slot[g] = member_start[g];
    }
    for (int i = 0; i < a->rows; i++)
        member[slot[aggregate[i]]++] = i;
    for (int g = 0; g < coarse; g++)
        slot[g] = -1;
    for (int g = 0; g < coarse; g++) {
        int first = at;
        for (int m = member_start[g]; m < member_start[g + 1]; m++) {
            int i = member[m];
            for (int k = a->start[i]; k < a->start[i + 1]; k++) {
                int to = aggregate[a->column[k]];
                if (slot[to] < first) {
                    slot[to] = at;
                    c.column[at] = to;
                    c.value[at++] = 0;
                }
                c.value[slot[to]] += a->value[k];
            }
        }
        c.start[g + 1] = at;
    }
    free(member_start);
    free(member);
    free(slot);
    return c;
}

static int setup(Level *level, Matrix finest) {
    int depth = 0;
    level[0].a = finest;
    for (;; depth++) {
        Level *l = &level[depth];
        int n = l->a.rows, coarse = n;
        l->diagonal = new_vector(n);
        l->right = new_vector(n);
        l->solution = new_vector(n);
        l->remain = new_vector(n);
        for (int i = 0; i < n; i++)
            for (int k = l->a.start[i]; k < l->a.start[i + 1]; k++)
                if (l->a.column[k] == i)
                    l->diagonal[i] = 1 / l->a.value[k];
        if (n <= COARSEST || depth == MAX_LEVELS - 1)
            return depth;
        l->aggregate = get_memory(n, sizeof(int));
        coarse = aggregate_rows(&l->a, l->aggregate);
        if (coarse == n)
            return depth;
        level[depth + 1].a = coarsen(&l->a, l->aggregate, coarse);
    }
}

static void multiply(const Matrix *a, const double *x, double *y) {
#pragma omp parallel for
    for (int i = 0; i < a->rows; i++) {
        double sum = 0;
        for (int k = a->start[i]; k < a->start[i + 1]; k++)
            sum += a->value[k] * x[a->column[k]];
        y[i] = sum;
    }
}

/* Damped Jacobi: symmetric, and the same with any number of threads. */
static void smooth(Level *l, int sweeps) {
    for (int s = 0; s < sweeps; s++) {
        multiply(&l->a, l->solution, l->remain);
#pragma omp parallel for
        for (int i = 0; i < l->a.rows; i++)
            l->solution[i] += 0.7 * l->diagonal[i] * (l->right[i] - l->remain[i]);
    }
}

static void cycle(Level *level, int depth, int last) {
    Level *l = &level[depth], *c = &level[depth + 1];
    memset(l->solution, 0, l->a.rows * sizeof(double));
    if (depth == last) {
        smooth(l, 40);
        return;
    }
    smooth(l, 2);
    multiply(&l->a, l->solution, l->remain);
    memset(c->right, 0, c->a.rows * sizeof(double));
    for (int i = 0; i < l->a.rows; i++)
        c->right[l->aggregate[i]] += l->right[i] - l->remain[i];
    cycle(level, depth + 1, last);
    /* Piecewise constant interpolation under-corrects: scaling by 1.6 is usual. */
    for (int i = 0; i < l->a.rows; i++)
        l->solution[i] += 1.6 * c->solution[l->aggregate[i]];
    smooth(l, 2);
}

static double dot(const double *x, const double *y, int n) {
    double sum = 0;
#pragma omp parallel for reduction(+ : sum)
    for (int i = 0; i < n; i++)
        sum += x[i] * y[i];
    return sum;
}

static int solve(Level *level, int last, const double *b, double *x, double tolerance) {
    int n = level[0].a.rows, iterations = 0;
    double *r = new_vector(n), *p = new_vector(n), *q = new_vector(n);
    double target = tolerance * tolerance * dot(b, b, n), rho = 0;
    memset(x, 0, n * sizeof(double));
    memcpy(r, b, n * sizeof(double));
    while (dot(r, r, n) > target && iterations < 200) {
        double before = rho;
        memcpy(level[0].right, r, n * sizeof(double));
        cycle(level, 0, last);
        rho = dot(r, level[0].solution, n);
        for (int i = 0; i < n; i++)
            p[i] = level[0].solution[i] + (iterations ? rho / before : 0) * p[i];
        multiply(&level[0].a, p, q);
        double alpha = rho / dot(p, q, n);
        for (int i = 0; i < n; i++) {
            x[i] += alpha * p[i];
            r[i] -= alpha * q[i];
        }
        iterations++;
    }
    free(r);
    free(p);
    free(q);
    return iterations;
}

int main(int argc, char **argv) {
    int edge = argc > 1 ? atoi(argv[1]) : 72, runs = argc > 2 ? atoi(argv[2]) : 1;
    if (edge < 4 || edge > 600 || runs < 1) {
        fprintf(stderr, "usage: multigrid [EDGE [RUNS]]: 4 <= EDGE <= 600, RUNS >= 1\n");
        return 2;
    }
    static Level level[MAX_LEVELS];
    int last = setup(level, build_problem(edge)), n = level[0].a.rows, iterations = 0;
    double *b = new_vector(n), *x = new_vector(n), *y = new_vector(n), sum = 0, worst = 0;
    struct timespec t0, t1;
    clock_gettime(CLOCK_MONOTONIC, &t0);
    for (int run = 0; run < runs; run++) {
        for (int i = 0; i < n; i++)
            b[i] = 1 + (i + run) % 5;
        iterations += solve(level, last, b, x, 1e-7);
        multiply(&level[0].a, x, y);
        for (int i = 0; i < n; i++)
            y[i] -= b[i];
        worst = fmax(worst, sqrt(dot(y, y, n) / dot(b, b, n)));
        sum += sqrt(dot(x, x, n));
    }
    clock_gettime(CLOCK_MONOTONIC, &t1);
    double seconds = (t1.tv_sec - t0.tv_sec) + 1e-9 * (t1.tv_nsec - t0.tv_nsec);
    printf("check: relative residual %s 1e-6\n", worst < 1e-6 ? "below" : "ABOVE");
    printf("checksum: %.7e\n", sum);
    printf("metric: %.4g nonzeros*iterations/s (%d iterations, %d levels)\n",
           (double)level[0].a.start[n] * iterations / seconds, iterations, last + 1);
    for (int d = 0; d <= last; d++) {
        free_matrix(&level[d].a);
        free(level[d].aggregate);
        free(level[d].diagonal);
        free(level[d].right);
        free(level[d].solution);
        free(level[d].remain);
    }
    free(b);
    free(x);
    free(y);
    return worst < 1e-6 ? 0 : 1;
}
