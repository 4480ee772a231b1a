// What a page fault on far data costs: touches one word of each chunk, round and round over four
// times what is near, so that every touch brings a chunk and another has to leave.
//
//   migration touch CHUNK_BYTES CHUNKS ROUNDS   below the engine; prints the median touch in ns
//   migration bare  CHUNK_BYTES CHUNKS ROUNDS   the same moves by a bare userfaultfd loop
//   migration fits  BYTES STEPS                 random reads and writes; prints a sum
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <linux/userfaultfd.h>
#include <poll.h>
#include <pthread.h>
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

// --- The bare loop: what comes in goes out in the same order. ---

struct move { // linux/userfaultfd.h since 6.8
    uint64_t to, from, bytes, mode;
    int64_t moved;
};
#define UFFDIO_MOVE_ _IOWR(UFFDIO, 0x05, struct move)
enum { DOES_NOT_WAKE = 1 };

static int fd;
static char *data, *shadow;
static size_t chunk, chunks, near_chunks;

static void move(char *to, char *from, uint64_t mode) {
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

static void *serve(void *unused) {
    size_t oldest = chunks - near_chunks;
    for (;;) {
        struct pollfd ready = {fd, POLLIN, 0};
        struct uffd_msg message;
        poll(&ready, 1, -1);
        if (read(fd, &message, sizeof message) != sizeof message)
            continue;
        const size_t at = (message.arg.pagefault.address - (uintptr_t)data) / chunk * chunk;
        move(data + at, shadow + at, 0);
        move(shadow + oldest * chunk, data + oldest * chunk, DOES_NOT_WAKE);
        oldest = (oldest + 1) % chunks;
    }
    return unused;
}

static void start_bare(void) {
    fd = (int)syscall(SYS_userfaultfd, O_CLOEXEC | O_NONBLOCK);
    struct uffdio_api api = {.api = UFFD_API, .features = 1 << 16 /* MOVE */};
    if (fd < 0 || ioctl(fd, UFFDIO_API, &api) != 0)
        die("userfaultfd");
    shadow = map(chunk * chunks);
    char *const both[] = {data, shadow};
    for (int i = 0; i < 2; i++) {
        struct uffdio_register request = {.range = {(uintptr_t)both[i], chunk * chunks},
                                          .mode = UFFDIO_REGISTER_MODE_MISSING};
        if (ioctl(fd, UFFDIO_REGISTER, &request) != 0)
            die("UFFDIO_REGISTER");
    }
    for (size_t i = 0; i < chunks - near_chunks; i++)
        move(shadow + i * chunk, data + i * chunk, DOES_NOT_WAKE);
    pthread_t thread;
    pthread_create(&thread, NULL, serve, NULL);
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

static void touch(size_t rounds) {
    const size_t most = chunks * rounds;
    uint64_t *const took = calloc(most, sizeof *took);
    size_t faults = 0;
    for (size_t step = 0; step < most; step++) {
        volatile char *const at = data + step % chunks * chunk;
        const int was_there = is_there((const char *)at);
        const uint64_t start = now();
        *at += 1;
        if (!was_there)
            took[faults++] = now() - start;
    }
    if (faults < most / 2) {
        fprintf(stderr, "%zu of %zu touches were faults: far memory is not in use\n", faults, most);
        exit(1);
    }
    qsort(took, faults, sizeof *took, by_size);
    printf("%llu\n", (unsigned long long)took[faults / 2]);
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
    if (count != 5)
        return 2;
    chunk = strtoull(arguments[2], NULL, 10);
    chunks = strtoull(arguments[3], NULL, 10);
    near_chunks = chunks / 4;
    data = map(chunk * chunks);
    memset(data, 1, chunk * chunks);
    if (strcmp(arguments[1], "bare") == 0)
        start_bare();
    while (is_there(data)) // memory that is filled quickly is noticed late
        usleep(1000);
    touch(strtoull(arguments[4], NULL, 10));
    return 0;
}
