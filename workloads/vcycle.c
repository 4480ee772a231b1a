/* A multigrid V-cycle on nested cubes (NAS MG-like).
 *
 * Seven-point stencils sweep over a solution, a right-hand side and a residual on each level; fine
 * grids are streamed, coarse ones fit into caches.  Check: each cycle takes the residual's square,
 * summed up anew, to less than half.
 *
 *   vcycle [EDGE [CYCLES]]     EDGE^3 cells, EDGE a multiple of 8
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { MAX_LEVELS = 12 };
typedef struct {
    int n; /* cells along an edge; around them a layer of zeros */
    double *u, *f, *r;
} Grid;

static size_t at(int n, int x, int y, int z) {
    return ((size_t)(z + 1) * (n + 2) + y + 1) * (n + 2) + x + 1;
}

static Grid new_grid(int n) {
    const size_t cells = (size_t)(n + 2) * (n + 2) * (n + 2);
    Grid g = {n, calloc(cells, 8), calloc(cells, 8), calloc(cells, 8)};
    if (!g.u || !g.f || !g.r) {
        fprintf(stderr, "vcycle: out of memory\n");
        exit(1);
    }
    return g;
}

/* r = f - A u; the sum of squares. */
static double residual(const Grid *g) {
    const int n = g->n;
    const size_t row = n + 2, plane = row * row;
    double sum = 0;
#pragma omp parallel for reduction(+ : sum)
    for (int z = 0; z < n; z++)
        for (int y = 0; y < n; y++)
            for (int x = 0; x < n; x++) {
                const size_t i = at(n, x, y, z);
                const double *u = g->u + i;
                const double around =
                    u[1] + u[-1] + u[row] + u[-(long)row] + u[plane] + u[-(long)plane];
                g->r[i] = g->f[i] - (6 * u[0] - around);
                sum += g->r[i] * g->r[i];
            }
    return sum;
}

static void smooth(const Grid *g, int times) { /* damped Jacobi */
    for (int t = 0; t < times; t++) {
        residual(g);
#pragma omp parallel for
        for (int z = 0; z < g->n; z++)
            for (int y = 0; y < g->n; y++)
                for (int x = 0; x < g->n; x++) {
                    const size_t i = at(g->n, x, y, z);
                    g->u[i] += 0.8 / 6 * g->r[i];
                }
    }
}

static void cycle(const Grid *g, int levels) {
    smooth(g, levels == 1 ? 40 : 2);
    if (levels == 1)
        return;
    const Grid *coarse = g + 1;
    residual(g);
    for (int z = 0; z < coarse->n;
         z++) /* a coarse cell's edge is twice as long: h^2 is four times */
        for (int y = 0; y < coarse->n; y++)
            for (int x = 0; x < coarse->n; x++) {
                double sum = 0;
                for (int corner = 0; corner < 8; corner++)
                    sum += g->r[at(g->n, 2 * x + (corner & 1), 2 * y + (corner >> 1 & 1),
                                   2 * z + (corner >> 2))];
                coarse->f[at(coarse->n, x, y, z)] = sum / 8 * 4;
                coarse->u[at(coarse->n, x, y, z)] = 0;
            }
    cycle(coarse, levels - 1);
    for (int z = 0; z < g->n; z++)
        for (int y = 0; y < g->n; y++)
            for (int x = 0; x < g->n; x++)
                g->u[at(g->n, x, y, z)] += coarse->u[at(coarse->n, x / 2, y / 2, z / 2)] * 0.5;
    smooth(g, 2);
}

int main(int argc, char **argv) {
    int n = argc > 1 ? atoi(argv[1]) : 128, cycles = argc > 2 ? atoi(argv[2]) : 4, levels = 1;
    if (n < 8 || n > 1024 || n % 8 || cycles < 1) {
        fprintf(stderr, "usage: vcycle [EDGE [CYCLES]]: EDGE a multiple of 8 up to 1024, "
                        "CYCLES >= 1\n");
        return 2;
    }
    Grid grid[MAX_LEVELS] = {new_grid(n)};
    for (int edge = n; edge % 2 == 0 && edge > 4 && levels < MAX_LEVELS; levels++)
        grid[levels] = new_grid(edge /= 2);
    for (int k = 0; k < 20; k++) { /* charges, plus and minus, as in NAS MG */
        const int x = (k * 37 + 11) % n, y = (k * 53 + 5) % n, z = (k * 29 + 17) % n;
        grid[0].f[at(n, x, y, z)] = k % 2 ? 1 : -1;
    }
    struct timespec t0, t1;
    clock_gettime(CLOCK_MONOTONIC, &t0);
    double before = residual(grid), after = before;
    int ok = 1;
    for (int c = 0; c < cycles; c++) {
        cycle(grid, levels);
        after = residual(grid);
        ok &= after < before / 2;
        before = after;
    }
    clock_gettime(CLOCK_MONOTONIC, &t1);
    double seconds = (t1.tv_sec - t0.tv_sec) + 1e-9 * (t1.tv_nsec - t0.tv_nsec), sum = 0;
    for (int z = 0; z < n; z++)
        for (int y = 0; y < n; y++)
            sum += grid[0].u[at(n, (y + z) % n, y, z)] * (1 + (y + 2 * z) % 3);
    printf("check: residual %s\n", ok ? "right" : "WRONG");
    printf("checksum: %.8e\n", sum);
    printf("metric: %.4g cells/s\n", (double)n * n * n * cycles / seconds);
    return !ok;
}
