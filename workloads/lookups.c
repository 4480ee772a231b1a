/* Cross sections looked up at random energies (XSBench-like).
 *
 * Each nuclide has a grid of energies; a union of all grids says for each energy where it lies in
 * every one of them.  A lookup searches the union, then reads two points of each nuclide of a
 * material and interpolates.  Check: every channel is linear in energy, so that its value is known.
 *
 *   lookups [POINTS [LOOKUPS [NUCLIDES]]]     POINTS of each nuclide's grid
 */
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { CHANNELS = 5, MATERIALS = 12 };
typedef struct {
    double energy, channel[CHANNELS];
} Point;
typedef struct {
    double energy;
    int nuclide;
} Key;

static void *get(size_t count, size_t size) {
    void *block = malloc(count * size);
    if (!block) {
        fprintf(stderr, "lookups: out of memory\n");
        exit(1);
    }
    return block;
}

static double uniform(uint64_t i) {
    uint64_t x = (i + 1) * 0x9e3779b97f4a7c15u;
    x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
    x = (x ^ x >> 27) * 0x94d049bb133111ebu;
    return (double)((x ^ x >> 31) >> 11) * 0x1p-53;
}

static double section(int nuclide, int channel, double energy) {
    return 1 + nuclide * 0.25 + (channel + 1) * energy;
}

static int by_energy(const void *a, const void *b) {
    const double x = ((const Key *)a)->energy, y = ((const Key *)b)->energy;
    return (x > y) - (x < y);
}

int main(int argc, char **argv) {
    long points = argc > 1 ? atol(argv[1]) : 6000, lookups = argc > 2 ? atol(argv[2]) : 200000;
    int nuclides = argc > 3 ? atoi(argv[3]) : 48;
    if (points < 10 || points > 10000000 || lookups < 1 || nuclides < 1 || nuclides > 1024) {
        fprintf(stderr, "usage: lookups [POINTS [LOOKUPS [NUCLIDES]]]: 10 <= POINTS <= 1e7, "
                        "LOOKUPS >= 1, 1 <= NUCLIDES <= 1024\n");
        return 2;
    }
    const size_t all = (size_t)points * nuclides;
    Point *grid = get(all, sizeof *grid);
    Key *keys = get(all, sizeof *keys);
    for (int nuclide = 0; nuclide < nuclides; nuclide++)
        for (long i = 0; i < points; i++) { /* rising, with jitter; the ends are everybody's */
            const size_t at = (size_t)nuclide * points + i;
            const double inside = (double)(i + uniform(at) * 0.9) / points;
            const double energy = i == 0 ? 0 : i == points - 1 ? 1 : inside;
            grid[at].energy = energy;
            for (int c = 0; c < CHANNELS; c++)
                grid[at].channel[c] = section(nuclide, c, energy);
            keys[at] = (Key){energy, nuclide};
        }
    qsort(keys, all, sizeof *keys, by_energy);
    double *energies = get(all, sizeof *energies);
    int *where = get(all * nuclides, sizeof *where), *now = calloc(nuclides, sizeof *now);
    for (size_t i = 0; i < all; i++) { /* the point at or below, of every nuclide */
        energies[i] = keys[i].energy;
        const int nuclide = keys[i].nuclide;
        const Point *mine = grid + (size_t)nuclide * points;
        while (now[nuclide] + 2 < points && mine[now[nuclide] + 1].energy <= keys[i].energy)
            now[nuclide]++;
        memcpy(where + i * nuclides, now, nuclides * sizeof *now);
    }
    free(keys);
    double total = 0, wanted = 0;
    struct timespec t0, t1;
    clock_gettime(CLOCK_MONOTONIC, &t0);
    for (long lookup = 0; lookup < lookups; lookup++) {
        const double energy = uniform(lookup * 2 + 12345678);
        const int material = (int)(uniform(lookup * 2 + 12345679) * MATERIALS);
        size_t low = 0, high = all;
        while (high - low > 1) {
            const size_t middle = low + (high - low) / 2;
            if (energies[middle] > energy)
                high = middle;
            else
                low = middle;
        }
        for (int nuclide = material; nuclide < nuclides; nuclide += MATERIALS) {
            const Point *a = grid + (size_t)nuclide * points + where[low * nuclides + nuclide];
            while (a[1].energy < energy) /* grids may go on between two points of the union */
                a++;
            const double part = (energy - a->energy) / (a[1].energy - a->energy);
            for (int c = 0; c < CHANNELS; c++) {
                total += a->channel[c] + part * (a[1].channel[c] - a->channel[c]);
                wanted += section(nuclide, c, energy);
            }
        }
    }
    clock_gettime(CLOCK_MONOTONIC, &t1);
    double seconds = (t1.tv_sec - t0.tv_sec) + 1e-9 * (t1.tv_nsec - t0.tv_nsec);
    int ok = fabs(total - wanted) <= 1e-9 * wanted;
    printf("check: cross sections %s\n", ok ? "right" : "WRONG");
    printf("checksum: %.10e\n", total);
    printf("metric: %.4g lookups/s\n", lookups / seconds);
    return !ok;
}
