/* A pipeline of image filters (imagick-like).
 *
 * Every picture, row buffer and kernel comes from one allocation routine, reached from
 * many filters, so that only the call path tells hot data from cold.  Pixels are four
 * floats.  Four quarter turns must give the picture back, and a blur that wraps around
 * must keep the mean: these are the checks.
 *
 *   filters [WIDTH [ROUNDS]]     WIDTH x 2/3 WIDTH pixels
 */
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { CHANNELS = 4 };

typedef struct {
    int width, height;
    float *pixel;
} Image;

static void *acquire_memory(size_t bytes) {
    void *block = malloc(bytes);
    if (!block) {
        fprintf(stderr, "filters: out of memory\n");
        exit(1);
    }
    return block;
}

static void *acquire_quantum(size_t count, size_t size) { return acquire_memory(count * size); }

static Image *acquire_image(int width, int height) {
    Image *image = acquire_memory(sizeof *image);
    image->width = width;
    image->height = height;
    image->pixel = acquire_quantum((size_t)width * height * CHANNELS, sizeof(float));
    return image;
}

static Image *destroy_image(Image *image) {
    free(image->pixel);
    free(image);
    return NULL;
}

static float *at(const Image *image, int x, int y) {
    return image->pixel + ((size_t)y * image->width + x) * CHANNELS;
}

static int wrap(int i, int n) { return i < 0 ? i + n : i >= n ? i - n : i; }

static Image *clone_image(const Image *image) {
    Image *copy = acquire_image(image->width, image->height);
    memcpy(copy->pixel, image->pixel,
           (size_t)image->width * image->height * CHANNELS * sizeof(float));
    return copy;
}

static Image *draw(int width, int height) {
    Image *image = acquire_image(width, height);
    uint64_t state = 42;
    for (int y = 0; y < height; y++)
        for (int x = 0; x < width; x++)
            for (int c = 0; c < CHANNELS; c++) {
                state = state * 6364136223846793005u + 1442695040888963407u;
                float noise = (float)(state >> 40) / (1 << 24);
                at(image, x, y)[c] =
                    0.5f + 0.3f * sinf(0.02f * x * (c + 1)) * cosf(0.03f * y) + 0.1f * noise;
            }
    return image;
}

static float *gaussian_kernel(int radius, double sigma) {
    float *kernel = acquire_quantum(2 * radius + 1, sizeof(float));
    double sum = 0;
    for (int i = -radius; i <= radius; i++)
        sum += exp(-i * i / (2 * sigma * sigma));
    for (int i = -radius; i <= radius; i++)
        kernel[i + radius] = (float)(exp(-i * i / (2 * sigma * sigma)) / sum);
    return kernel;
}

static Image *blur(const Image *image, int radius, double sigma) {
    float *kernel = gaussian_kernel(radius, sigma);
    Image *across = acquire_image(image->width, image->height);
    Image *result = acquire_image(image->width, image->height);
    int width = image->width, height = image->height;
#pragma omp parallel for
    for (int y = 0; y < height; y++) {
        /* The row with its wrapped-around ends, so that the inner loop has no test. */
        float *row = acquire_quantum((size_t)(width + 2 * radius) * CHANNELS, sizeof(float));
        for (int x = -radius; x < width + radius; x++)
            memcpy(row + (x + radius) * CHANNELS, at(image, wrap(x, width), y),
                   CHANNELS * sizeof(float));
        for (int x = 0; x < width; x++) {
            float sum[CHANNELS] = {0};
            for (int k = 0; k <= 2 * radius; k++)
                for (int c = 0; c < CHANNELS; c++)
                    sum[c] += kernel[k] * row[(x + k) * CHANNELS + c];
            memcpy(at(across, x, y), sum, sizeof sum);
        }
        free(row);
    }
#pragma omp parallel for
    for (int y = 0; y < height; y++) {
        float *out = at(result, 0, y);
        memset(out, 0, (size_t)width * CHANNELS * sizeof(float));
        for (int k = -radius; k <= radius; k++) {
            const float *in = at(across, 0, wrap(y + k, height));
            for (int i = 0; i < width * CHANNELS; i++)
                out[i] += kernel[k + radius] * in[i];
        }
    }
    free(kernel);
    destroy_image(across);
    return result;
}

static Image *sharpen(const Image *image, float amount) {
    Image *soft = blur(image, 4, 1.5), *result = clone_image(image);
    size_t n = (size_t)image->width * image->height * CHANNELS;
    for (size_t i = 0; i < n; i++)
        result->pixel[i] += amount * (image->pixel[i] - soft->pixel[i]);
    destroy_image(soft);
    return result;
}

/* Median of a pixel and its four neighbours. */
static Image *despeckle(const Image *image) {
    Image *result = acquire_image(image->width, image->height);
#pragma omp parallel for
    for (int y = 0; y < image->height; y++)
        for (int x = 0; x < image->width; x++) {
            int xs[5] = {x, x - 1, x + 1, x, x}, ys[5] = {y, y, y, y - 1, y + 1};
            for (int c = 0; c < CHANNELS; c++) {
                float v[5];
                for (int i = 0; i < 5; i++) {
                    float next =
                        at(image, wrap(xs[i], image->width), wrap(ys[i], image->height))[c];
                    int j = i;
                    for (; j > 0 && v[j - 1] > next; j--)
                        v[j] = v[j - 1];
                    v[j] = next;
                }
                at(result, x, y)[c] = v[2];
            }
        }
    return result;
}

static Image *quarter_turn(const Image *image) {
    Image *result = acquire_image(image->height, image->width);
    enum { TILE = 32 };
    for (int y0 = 0; y0 < image->height; y0 += TILE)
        for (int x0 = 0; x0 < image->width; x0 += TILE)
            for (int y = y0; y < image->height && y < y0 + TILE; y++)
                for (int x = x0; x < image->width && x < x0 + TILE; x++)
                    memcpy(at(result, image->height - 1 - y, x), at(image, x, y),
                           CHANNELS * sizeof(float));
    return result;
}

static Image *resize(const Image *image, int width, int height) {
    Image *result = acquire_image(width, height);
    float *fraction = acquire_quantum(width, sizeof(float));
    int *left = acquire_quantum(width, sizeof(int));
    for (int x = 0; x < width; x++) {
        float from = (float)x * (image->width - 1) / width;
        left[x] = (int)from;
        fraction[x] = from - left[x];
    }
#pragma omp parallel for
    for (int y = 0; y < height; y++) {
        float from = (float)y * (image->height - 1) / height, down = from - (int)from;
        for (int x = 0; x < width; x++) {
            const float *a = at(image, left[x], (int)from), *b = at(image, left[x], (int)from + 1);
            for (int c = 0; c < CHANNELS; c++) {
                float top = a[c] + fraction[x] * (a[c + CHANNELS] - a[c]);
                float bottom = b[c] + fraction[x] * (b[c + CHANNELS] - b[c]);
                at(result, x, y)[c] = top + down * (bottom - top);
            }
        }
    }
    free(fraction);
    free(left);
    return result;
}

/* Histogram equalisation: 65,536 bins a channel, as deep pictures need. */
static Image *equalize(const Image *image) {
    enum { BINS = 65536 };
    Image *result = clone_image(image);
    uint32_t *histogram = acquire_quantum(BINS * CHANNELS, sizeof(uint32_t));
    float *map = acquire_quantum(BINS * CHANNELS, sizeof(float));
    size_t n = (size_t)image->width * image->height;
    memset(histogram, 0, BINS * CHANNELS * sizeof(uint32_t));
    for (size_t i = 0; i < n * CHANNELS; i++) {
        float v = fminf(fmaxf(image->pixel[i], 0), 1);
        histogram[(size_t)(v * (BINS - 1)) * CHANNELS + i % CHANNELS]++;
    }
    for (int c = 0; c < CHANNELS; c++) {
        size_t sum = 0;
        for (size_t b = 0; b < BINS; b++) {
            sum += histogram[b * CHANNELS + c];
            map[b * CHANNELS + c] = (float)sum / n;
        }
    }
    for (size_t i = 0; i < n * CHANNELS; i++) {
        float v = fminf(fmaxf(image->pixel[i], 0), 1);
        result->pixel[i] = map[(size_t)(v * (BINS - 1)) * CHANNELS + i % CHANNELS];
    }
    free(histogram);
    free(map);
    return result;
}

static double total(const Image *image) {
    double sum = 0;
    for (size_t i = 0; i < (size_t)image->width * image->height * CHANNELS; i++)
        sum += image->pixel[i];
    return sum;
}

static Image *replace(Image *old, Image *new) {
    destroy_image(old);
    return new;
}

int main(int argc, char **argv) {
    int width = argc > 1 ? atoi(argv[1]) : 1200, rounds = argc > 2 ? atoi(argv[2]) : 1;
    if (width < 64 || width > 20000 || rounds < 1) {
        fprintf(stderr, "usage: filters [WIDTH [ROUNDS]]: 64 <= WIDTH <= 20000, ROUNDS >= 1\n");
        return 2;
    }
    int height = width * 2 / 3, ok = 1;
    Image *original = draw(width, height), *work = clone_image(original);
    double checksum = 0;
    struct timespec t0, t1;
    clock_gettime(CLOCK_MONOTONIC, &t0);
    for (int round = 0; round < rounds; round++) {
        Image *thumbnail, *turned = clone_image(work);
        for (int i = 0; i < 4; i++)
            turned = replace(turned, quarter_turn(turned));
        ok &=
            !memcmp(turned->pixel, work->pixel, (size_t)width * height * CHANNELS * sizeof(float));
        destroy_image(turned);
        double before = total(work);
        work = replace(work, blur(work, 6, 2.5));
        ok &= fabs(total(work) / before - 1) < 1e-5;
        work = replace(work, sharpen(work, 0.8f));
        work = replace(work, despeckle(work));
        thumbnail = resize(work, width / 2, height / 2);
        thumbnail = replace(thumbnail, equalize(thumbnail));
        checksum += total(thumbnail);
        work = replace(work, resize(thumbnail, width, height));
        destroy_image(thumbnail);
        checksum += total(work);
    }
    checksum += total(original);
    clock_gettime(CLOCK_MONOTONIC, &t1);
    double seconds = (t1.tv_sec - t0.tv_sec) + 1e-9 * (t1.tv_nsec - t0.tv_nsec);
    printf("check: turns and blur %s the picture\n", ok ? "keep" : "DAMAGE");
    printf("checksum: %.7e\n", checksum);
    printf("metric: %.4g pixels/s\n", (double)width * height * rounds / seconds);
    destroy_image(original);
    destroy_image(work);
    return !ok;
}
