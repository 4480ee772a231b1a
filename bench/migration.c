// What a page fault on far data costs: touches one word of each chunk, round and round over four
// times what is near, so that every touch brings a chunk and another has to leave.
//
//   migration touch  CHUNK_BYTES CHUNKS ROUNDS [THREADS]   below the engine
//   migration bare   CHUNK_BYTES CHUNKS ROUNDS [THREADS]   the same moves by bare userfaultfd loops
//   migration signal CHUNK_BYTES CHUNKS ROUNDS [THREADS]   and in the faulting threads, on SIGBUS
//   migration fits   BYTES STEPS                           random reads and writes; prints a sum
//
// Each thread has so many chunks of its own, and a loop.  Prints the median touch and the time that
// all took for each touch, in ns.
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <linux/userfaultfd.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum { PAGE = 4096 };

static void die(const char *what) {
    perror(what);
    exit(1);
}

static uint64_t now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (uint64_t)time.tv_sec * 1000000000 + (uint64_t)time.tv_nsec;
}

static char *map(size_t bytes) {
    const size_t align = 2 << 20;
    char *at = mmap(NULL, bytes + align, PROT_READ | PROT_WRITE,
                    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (at == MAP_FAILED)
        die("mmap");
    at = (char *)(((uintptr_t)at + align - 1) & ~(align - 1));
    madvise(at, bytes, MADV_NOHUGEPAGE); // a huge page that moves whole is another measurement
    return at;
}

// --- The bare loops: what comes in goes out in the same order. ---

struct move { // linux/userfaultfd.h since 6.8
    uint64_t to, from, bytes, mode;
    int64_t moved;
};
#define UFFDIO_MOVE_ _IOWR(UFFDIO, 0x05, struct move)
enum { FEATURE_MOVE = 1 << 16, DOES_NOT_WAKE = 1, MOST_THREADS = 64 };

static size_t chunk, chunks, near_chunks, rounds;
static struct part { // a thread's
    int fd;
    char *data, *shadow;
    size_t oldest, faults;
    uint64_t *took, started, ended;
} parts[MOST_THREADS];
static _Thread_local struct part *own;
static pthread_barrier_t all_ready;

static void move(int fd, char *to, char *from, uint64_t mode) {
    struct move request = {(uintptr_t)to, (uintptr_t)from, chunk, mode, 0};
    while (ioctl(fd, UFFDIO_MOVE_, &request) != 0) {
        if (errno != EAGAIN || request.moved < 0)
            die("UFFDIO_MOVE");
        request.to += (uint64_t)request.moved;
        request.from += (uint64_t)request.moved;
        request.bytes -= (uint64_t)request.moved;
        request.moved = 0;
    }
}

static void answer(struct part *part, uint64_t address) {
    const size_t at = (address - (uintptr_t)part->data) / chunk * chunk;
    const size_t old = part->oldest * chunk;
    move(part->fd, part->data + at, part->shadow + at, 0);
    move(part->fd, part->shadow + old, part->data + old, DOES_NOT_WAKE);
    part->oldest = (part->oldest + 1) % chunks;
}

static void *serve(void *of) {
    struct part *const part = of;
    for (;;) {
        struct pollfd ready = {part->fd, POLLIN, 0};
        struct uffd_msg message;
        poll(&ready, 1, -1);
        if (read(part->fd, &message, sizeof message) == sizeof message)
            answer(part, message.arg.pagefault.address);
    }
}

static void on_sigbus(int number, siginfo_t *about, void *context) {
    (void)number, (void)context;
    answer(own, (uintptr_t)about->si_addr);
}

static void start_bare(struct part *part, int by_signal) {
    const int fd = part->fd = (int)syscall(SYS_userfaultfd, O_CLOEXEC | O_NONBLOCK);
    struct uffdio_api api = {.api = UFFD_API,
                             .features = FEATURE_MOVE | (by_signal ? UFFD_FEATURE_SIGBUS : 0)};
    if (fd < 0 || ioctl(fd, UFFDIO_API, &api) != 0)
        die("userfaultfd");
    part->shadow = map(chunk * chunks);
    char *const both[] = {part->data, part->shadow};
    for (int i = 0; i < 2; i++) {
        struct uffdio_register request = {.range = {(uintptr_t)both[i], chunk * chunks},
                                          .mode = UFFDIO_REGISTER_MODE_MISSING};
        if (ioctl(fd, UFFDIO_REGISTER, &request) != 0)
            die("UFFDIO_REGISTER");
    }
    part->oldest = chunks - near_chunks;
    for (size_t i = 0; i < part->oldest; i++)
        move(fd, part->shadow + i * chunk, part->data + i * chunk, DOES_NOT_WAKE);
    pthread_t thread;
    if (!by_signal)
        pthread_create(&thread, NULL, serve, part);
}

// --- The touches. ---

static int by_size(const void *a, const void *b) {
    const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

static int is_there(const char *at) {
    unsigned char there = 0;
    return mincore((void *)at, PAGE, &there) == 0 && (there & 1);
}

static void *touch(void *of) {
    own = of;
    pthread_barrier_wait(&all_ready);
    own->started = now();
    for (size_t step = 0; step < chunks * rounds; step++) {
        volatile char *const at = own->data + step % chunks * chunk;
        const int was_there = is_there((const char *)at);
        const uint64_t start = now();
        *at += 1;
        if (!was_there)
            own->took[own->faults++] = now() - start;
    }
    own->ended = now();
    return NULL;
}

static void touch_all(size_t threads) {
    const size_t most = chunks * rounds;
    uint64_t *const took = calloc(most * threads, sizeof *took);
    pthread_t running[MOST_THREADS];
    pthread_barrier_init(&all_ready, NULL, (unsigned)threads);
    for (size_t i = 0; i < threads; i++) {
        parts[i].took = took + i * most;
        pthread_create(&running[i], NULL, touch, &parts[i]);
    }
    uint64_t first = UINT64_MAX, last = 0;
    size_t faults = 0;
    for (size_t i = 0; i < threads; i++) {
        struct part *const part = &parts[i];
        pthread_join(running[i], NULL);
        memmove(took + faults, part->took, part->faults * sizeof *took);
        faults += part->faults;
        first = part->started < first ? part->started : first;
        last = part->ended > last ? part->ended : last;
    }
    if (faults < most * threads / 2) {
        fprintf(stderr, "%zu of %zu touches were faults: far memory is not in use\n", faults,
                most * threads);
        exit(1);
    }
    qsort(took, faults, sizeof *took, by_size);
    printf("%llu %llu\n", (unsigned long long)took[faults / 2],
           (unsigned long long)((last - first) / faults));
}

static void fits(size_t bytes, size_t steps) {
    volatile uint64_t *const all = (uint64_t *)map(bytes);
    uint64_t state = 1, sum = 0;
    for (size_t step = 0; step < steps; step++) {
        state = state * 6364136223846793005 + 1442695040888963407;
        const size_t at = (state >> 20) % (bytes / 8);
        sum += all[at];
        all[at] = state;
    }
    printf("%llu\n", (unsigned long long)sum);
}

int main(int count, char **arguments) {
    if (count == 4 && strcmp(arguments[1], "fits") == 0) {
        fits(strtoull(arguments[2], NULL, 10), strtoull(arguments[3], NULL, 10));
        return 0;
    }
    if (count != 5 && count != 6)
        return 2;
    chunk = strtoull(arguments[2], NULL, 10);
    chunks = strtoull(arguments[3], NULL, 10);
    rounds = strtoull(arguments[4], NULL, 10);
    near_chunks = chunks / 4;
    const size_t threads = count == 6 ? strtoull(arguments[5], NULL, 10) : 1;
    const int by_signal = strcmp(arguments[1], "signal") == 0;
    if (threads < 1 || threads > MOST_THREADS)
        return 2;
    for (size_t i = 0; i < threads; i++) {
        parts[i].data = map(chunk * chunks);
        memset(parts[i].data, 1, chunk * chunks);
    }
    const struct sigaction action = {.sa_sigaction = on_sigbus, .sa_flags = SA_SIGINFO};
    sigaction(SIGBUS, &action, NULL);
    for (size_t i = 0; i < threads; i++) {
        if (by_signal || strcmp(arguments[1], "bare") == 0)
            start_bare(&parts[i], by_signal);
        while (is_there(parts[i].data)) // memory that is filled quickly is noticed late
            usleep(1000);
    }
    touch_all(threads);
    return 0;
}
