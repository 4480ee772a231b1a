/* Measures what `thermocline machine calibrate` needs to know of this host's memory.
 *
 * A chase through a random cycle of lines, over footprints from 16 KiB on: each load waits for
 * the one before, so its time is the latency of the level that holds the footprint.  Random
 * reads that wait for nothing: their time against the chase's tells how many lines are on their
 * way at once.  Sequential reads by all processors: bandwidth.  A chain of dependent additions,
 * one a cycle: the clock.  Pages are huge where the kernel gives them, as they are for programs
 * with Thermocline's allocator.  The median of several goes, in the thread's processor time: what
 * else runs here is there while programs run, too.
 *
 *   probe BYTES     the largest footprint; prints one JSON object, times in seconds
 */
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

enum { LINE = 64, HUGE = 1 << 21, GOES = 31, MAX_THREADS = 64 };

static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return t.tv_sec + 1e-9 * t.tv_nsec;
}

static uint64_t next_random(uint64_t *state) {
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    return *state;
}

static void *block_of(size_t bytes) {
    void *block = aligned_alloc(HUGE, (bytes + HUGE - 1) / HUGE * HUGE);
    if (!block) {
        fprintf(stderr, "probe: out of memory\n");
        exit(1);
    }
    madvise(block, bytes, MADV_HUGEPAGE); /* refused without harm */
    return block;
}

/* One cycle through all lines, in random order (Sattolo). */
static void thread_lines(char *block, size_t bytes) {
    const size_t lines = bytes / LINE;
    uint32_t *order = block_of(lines * sizeof *order);
    uint64_t state = 88172645463325252u;
    for (size_t i = 0; i < lines; i++)
        order[i] = (uint32_t)i;
    for (size_t i = lines - 1; i > 0; i--) {
        const size_t other = next_random(&state) % i;
        const uint32_t mine = order[i];
        order[i] = order[other];
        order[other] = mine;
    }
    for (size_t i = 0; i < lines; i++)
        *(void **)(block + LINE * i) = block + LINE * (size_t)order[i];
    free(order);
}

static int compare(const void *a, const void *b) {
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double median(double *values, int count) {
    qsort(values, count, sizeof *values, compare);
    return values[count / 2];
}

/* Seconds a load. */
static double chase(char *block, size_t bytes) {
    enum { STEPS = 30000 };
    double took[GOES];
    void **at = (void **)block;
    thread_lines(block, bytes);
    for (size_t i = 0; i < bytes / LINE && i < 1 << 20; i++) /* into the caches, what fits */
        at = *at;
    for (int go = 0; go < GOES; go++) {
        const double begin = now();
        for (int i = 0; i < STEPS; i++)
            at = *at;
        took[go] = (now() - begin) / STEPS;
        __asm__ volatile("" : "+r"(at));
    }
    return median(took, GOES);
}

/* Seconds a load, none of which waits for another. */
static double gather(const char *block, size_t bytes) {
    enum { STEPS = 200000 };
    const size_t lines = bytes / LINE;
    double took[GOES];
    uint64_t state = 88172645463325252u, sum = 0;
    for (int go = 0; go < GOES; go++) {
        const double begin = now();
        for (int i = 0; i < STEPS; i++) /* the high half of a product: no division */
            sum +=
                *(const uint64_t *)(block + LINE * (((next_random(&state) >> 32) * lines) >> 32));
        took[go] = (now() - begin) / STEPS;
        __asm__ volatile("" : "+r"(sum));
    }
    return median(took, GOES);
}

/* Seconds of one of a chain of additions: a cycle. */
static double cycle(void) {
    enum { STEPS = 800000 };
    double took[GOES];
    uint64_t x = 1, y = 3;
    for (int go = 0; go < GOES; go++) {
        const double begin = now();
        for (int i = 0; i < STEPS; i += 8)
            __asm__ volatile("add %1, %0\n add %1, %0\n add %1, %0\n add %1, %0\n"
                             "add %1, %0\n add %1, %0\n add %1, %0\n add %1, %0"
                             : "+r"(x)
                             : "r"(y));
        took[go] = (now() - begin) / STEPS;
    }
    return median(took, GOES);
}

struct reader {
    pthread_barrier_t *barrier;
    const uint64_t *block;
    size_t words;
    uint64_t sum;
    double rate; /* bytes a second */
};

static void *read_all(void *argument) {
    struct reader *reader = argument;
    pthread_barrier_wait(reader->barrier);
    const double begin = now();
    for (size_t i = 0; i + 8 <= reader->words; i += 8)
        for (int k = 0; k < 8; k++)
            reader->sum += reader->block[i + k];
    reader->rate = reader->words * sizeof(uint64_t) / (now() - begin);
    return NULL;
}

/* Bytes a second, each thread over its part: the sum of what each had while it ran. */
static double read_bandwidth(const char *block, size_t bytes, int threads) {
    enum { SWEEPS = 5 };
    double rate[SWEEPS] = {0};
    for (int go = 0; go < SWEEPS; go++) {
        pthread_barrier_t barrier;
        pthread_t handle[MAX_THREADS];
        struct reader reader[MAX_THREADS];
        const size_t part = bytes / threads / LINE * LINE;
        pthread_barrier_init(&barrier, NULL, threads);
        for (int t = 0; t < threads; t++) {
            const uint64_t *mine = (const uint64_t *)(block + part * t);
            reader[t] = (struct reader){&barrier, mine, part / sizeof(uint64_t), 0, 0};
            if (pthread_create(&handle[t], NULL, read_all, &reader[t])) {
                fprintf(stderr, "probe: can't start %d threads\n", threads);
                exit(1);
            }
        }
        for (int t = 0; t < threads; t++) {
            pthread_join(handle[t], NULL);
            rate[go] += reader[t].rate;
        }
        pthread_barrier_destroy(&barrier);
    }
    return median(rate, SWEEPS);
}

int main(int argc, char **argv) {
    const size_t most = argc == 2 ? strtoull(argv[1], NULL, 10) : 0;
    if (most < (1 << 20) || most > (size_t)1 << 36) {
        fprintf(stderr, "usage: probe BYTES: from 1 MiB to 64 GiB\n");
        return 2;
    }
    long processors = sysconf(_SC_NPROCESSORS_ONLN);
    int threads = processors < 1 ? 1 : processors > MAX_THREADS ? MAX_THREADS : (int)processors;
    char *block = block_of(most);
    printf("{\"cycle\": %.6g, \"chase\": [", cycle());
    size_t bytes = 1 << 14;
    for (; bytes <= most; bytes *= 2)
        printf("%s[%zu, %.6g]", bytes > 1 << 14 ? ", " : "", bytes, chase(block, bytes));
    bytes /= 2;
    printf("], \"gather\": %.6g, ", gather(block, bytes));
    printf("\"read_bandwidth\": %.6g, \"threads\": %d}\n", read_bandwidth(block, bytes, threads),
           threads);
    return 0;
}
