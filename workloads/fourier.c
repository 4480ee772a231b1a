/* Fourier transforms of a cube (NAS FT-like).
 *
 * A field is transformed once; then its spectrum decays step by step and is transformed back.  Each
 * transform goes along one axis after the other, sixteen lines at a time in a small buffer: along
 * the last axis each line has a page of its own in every plane.  Check: without decay the field
 * comes back, and with it the mean stays.
 *
 *   fourier [EDGE [STEPS]]     EDGE^3 points, EDGE a power of two
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { LINES = 16 };
typedef struct {
    double re, im;
} Complex;

static double buffer[2][2][1024][LINES]; /* two sides, real and imaginary */

static void *get(size_t count, size_t size) {
    void *block = malloc(count * size);
    if (!block) {
        fprintf(stderr, "fourier: out of memory\n");
        exit(1);
    }
    return block;
}

/* Stockham's transform of LINES lines, from one side of the buffer to the other; returns the side
 * of the result. */
static int transform(int n, double sign) {
    const double turn = sign * 2 * acos(-1.0);
    int side = 0;
    for (int half = n / 2, stride = 1; half >= 1; half /= 2, stride *= 2, side ^= 1)
        for (int j = 0; j < half; j++) {
            const double c = cos(turn * j / (2 * half)), s = sin(turn * j / (2 * half));
            for (int k = 0; k < stride; k++) {
                const double *ar = buffer[side][0][k + stride * j];
                const double *ai = buffer[side][1][k + stride * j];
                const double *br = buffer[side][0][k + stride * (j + half)];
                const double *bi = buffer[side][1][k + stride * (j + half)];
                double *xr = buffer[!side][0][k + stride * 2 * j];
                double *xi = buffer[!side][1][k + stride * 2 * j];
                double *yr = buffer[!side][0][k + stride * (2 * j + 1)];
                double *yi = buffer[!side][1][k + stride * (2 * j + 1)];
                for (int l = 0; l < LINES; l++) {
                    const double dr = ar[l] - br[l], di = ai[l] - bi[l];
                    xr[l] = ar[l] + br[l];
                    xi[l] = ai[l] + bi[l];
                    yr[l] = c * dr - s * di;
                    yi[l] = c * di + s * dr;
                }
            }
        }
    return side;
}

/* Lines along an axis: `step` apart are their points, `next` the lines. */
static void lines(Complex *at, int n, size_t step, size_t next, double sign) {
    for (int i = 0; i < n; i++)
        for (int l = 0; l < LINES; l++) {
            buffer[0][0][i][l] = at[i * step + l * next].re;
            buffer[0][1][i][l] = at[i * step + l * next].im;
        }
    const int side = transform(n, sign);
    for (int i = 0; i < n; i++)
        for (int l = 0; l < LINES; l++) {
            at[i * step + l * next].re = buffer[side][0][i][l];
            at[i * step + l * next].im = buffer[side][1][i][l];
        }
}

static void cube(Complex *field, int n, double sign) {
    const size_t row = n, plane = row * n;
    for (int z = 0; z < n; z++)
        for (int y = 0; y < n; y += LINES)
            lines(field + z * plane + y * row, n, 1, row, sign);
    for (int z = 0; z < n; z++)
        for (int x = 0; x < n; x += LINES)
            lines(field + z * plane + x, n, row, 1, sign);
    for (int y = 0; y < n; y++)
        for (int x = 0; x < n; x += LINES)
            lines(field + y * row + x, n, plane, 1, sign);
}

static double start_value(size_t i) { return (double)(i * 2654435761u % 1000003) / 1000003; }

int main(int argc, char **argv) {
    int n = argc > 1 ? atoi(argv[1]) : 128, steps = argc > 2 ? atoi(argv[2]) : 2;
    if (n < LINES || n > 1024 || (n & (n - 1)) || steps < 0) {
        fprintf(stderr, "usage: fourier [EDGE [STEPS]]: EDGE a power of two from 16 to 1024, "
                        "STEPS >= 0\n");
        return 2;
    }
    const size_t all = (size_t)n * n * n;
    Complex *spectrum = get(all, sizeof *spectrum), *field = get(all, sizeof *field);
    double *decay = get(all, sizeof *decay), mean = 0, worst = 0, sum = 0;
    for (size_t i = 0; i < all; i++) {
        int k[3] = {(int)(i % n), (int)(i / n % n), (int)(i / n / n)}, square = 0;
        for (int axis = 0; axis < 3; axis++) {
            const int wave = k[axis] > n / 2 ? k[axis] - n : k[axis];
            square += wave * wave;
        }
        decay[i] = exp(-1e-6 * square);
        spectrum[i] = (Complex){start_value(i), 0};
        mean += start_value(i) / all;
    }
    struct timespec t0, t1;
    clock_gettime(CLOCK_MONOTONIC, &t0);
    cube(spectrum, n, -1);
    for (int step = 0; step <= steps; step++) { /* the first without decay */
        for (size_t i = 0; i < all; i++) {
            if (step > 0) {
                spectrum[i].re *= decay[i];
                spectrum[i].im *= decay[i];
            }
            field[i].re = spectrum[i].re / all;
            field[i].im = spectrum[i].im / all;
        }
        cube(field, n, 1);
        if (step == 0)
            for (size_t i = 0; i < all; i += 5)
                worst = fmax(worst, fabs(field[i].re - start_value(i)) + fabs(field[i].im));
        for (size_t i = 0; i < all; i += 1009)
            sum += field[i].re * (i % 7);
    }
    clock_gettime(CLOCK_MONOTONIC, &t1);
    double seconds = (t1.tv_sec - t0.tv_sec) + 1e-9 * (t1.tv_nsec - t0.tv_nsec), kept = 0;
    for (size_t i = 0; i < all; i++)
        kept += field[i].re / all;
    int ok = worst < 1e-9 && fabs(kept - mean) < 1e-9;
    printf("check: field and mean %s\n", ok ? "right" : "WRONG");
    printf("checksum: %.8e\n", sum);
    printf("metric: %.4g points/s\n", (double)all * (steps + 2) / seconds);
    free(spectrum);
    free(field);
    free(decay);
    return !ok;
}
