// A program that does what an engine below it must follow, and knows what each word should be:
// threads, fork, mremap, munmap, madvise, mlock, mprotect, system calls on far buffers.
#define _GNU_SOURCE
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

enum { PAGE = 4096, WORDS = PAGE / 8 };

static void fail(const char *what, size_t at, uint64_t is) {
    fprintf(stderr, "%s: word %zu is %llx\n", what, at, (unsigned long long)is);
    _exit(1);
}

static uint64_t value(size_t at, uint64_t salt) { return (at + salt) * 0x9e3779b97f4a7c15; }

static void fill(uint64_t *data, size_t words, uint64_t salt) {
    for (size_t at = 0; at < words; at++)
        data[at] = value(at, salt);
}

static void check(const char *what, const uint64_t *data, size_t words, uint64_t salt) {
    for (size_t at = 0; at < words; at++)
        if (data[at] != value(at, salt))
            fail(what, at, data[at]);
}

static uint64_t *map(size_t bytes) {
    void *at = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (at == MAP_FAILED)
        fail("mmap", 0, 0);
    return at;
}

static size_t bytes, words;

// Random reads and writes of its own part, forever checked.
static void *worker(void *argument) {
    const uint64_t salt = (uintptr_t)argument;
    uint64_t *data = malloc(bytes), state = salt * 7919 + 1;
    fill(data, words, salt);
    for (int step = 0; step < 3000; step++) {
        state = state * 6364136223846793005 + 1442695040888963407;
        const size_t at = (state >> 20) % words;
        if (data[at] != value(at, salt))
            fail("thread", at, data[at]);
        data[at] = value(at, salt);
    }
    check("thread", data, words, salt);
    free(data);
    return NULL;
}

static void forks(uint64_t *data) {
    for (int round = 0; round < 3; round++) {
        const pid_t child = fork();
        if (child == 0) {
            check("child", data, words, 1);
            fill(data, words, 2);
            check("child's own", data, words, 2);
            _exit(0);
        }
        for (size_t at = 0; at < words; at += WORDS) // while the child looks
            data[at] = value(at, 1);
        int status = 1;
        waitpid(child, &status, 0);
        if (status != 0)
            fail("fork", round, status);
        check("parent", data, words, 1);
    }
}

static void mappings(uint64_t *data) {
    uint64_t *moved = map(bytes);
    fill(moved, words, 3);
    check("before mremap", data, words, 1); // pushes the other out
    moved = mremap(moved, bytes, 2 * bytes, MREMAP_MAYMOVE);
    if (moved == MAP_FAILED)
        fail("mremap", 0, 0);
    check("mremap", moved, words, 3);
    for (size_t at = words; at < 2 * words; at += 7)
        if (moved[at])
            fail("mremap's end", at, moved[at]);
    madvise(moved + words / 4, bytes / 4, MADV_DONTNEED);
    check("madvise before", moved, words / 4, 3);
    for (size_t at = words / 4; at < words / 2; at++)
        if (moved[at])
            fail("madvise", at, moved[at]);
    for (size_t at = words / 2; at < words; at++)
        if (moved[at] != value(at, 3))
            fail("madvise behind", at, moved[at]);
    // A part replaced by a new mapping, at once.
    if (mmap(moved, bytes / 4, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1,
             0) != moved)
        fail("mmap over", 0, 0);
    for (size_t at = 0; at < words / 2; at++)
        if (moved[at])
            fail("mmap over", at, moved[at]);
    munmap(moved, 2 * bytes);
    uint64_t *again = map(bytes);
    for (size_t at = 0; at < words; at += 3)
        if (again[at])
            fail("a new mapping", at, again[at]);
    fill(again, words, 4);
    check("pushed out", data, words, 1);
    mprotect(again, bytes, PROT_READ);
    check("mprotect", again, words, 4);
    mprotect(again, bytes, PROT_READ | PROT_WRITE);
    mlock(again, bytes / 4);
    check("pushed out by", data, words, 1);
    check("mlock", again, words, 4);
    munmap(again, bytes);
}

// Grows by mremap, twice in a row, while others do so too: what was pushed out has to follow.
static void *grower(void *argument) {
    const uint64_t salt = (uintptr_t)argument;
    const size_t least = 1 << 20;
    for (int round = 0; round < 6; round++) {
        size_t now = least;
        char *data = (char *)map(now);
        fill((uint64_t *)data, least / 8, salt);
        for (int step = 0; step < 24; step++) {
            data = mremap(data, now, now + least, MREMAP_MAYMOVE);
            if (data == MAP_FAILED)
                fail("mremap", now, 0);
            fill((uint64_t *)(data + now), least / 8, salt);
            if (step % 2)
                madvise(data + now, least, MADV_DONTNEED);
            now += least;
        }
        for (size_t at = 0; at < now; at += least)
            if (at == 0 || at / least % 2)
                check("grown", (uint64_t *)(data + at), least / 8, salt);
            else if (*(uint64_t *)(data + at))
                fail("given back", at, *(uint64_t *)(data + at));
        munmap(data, now);
    }
    return NULL;
}

static void calls(uint64_t *data) {
    char name[] = "/tmp/migrated-XXXXXX";
    const int file = mkstemp(name);
    unlink(name);
    uint64_t *other = map(bytes);
    memset(other, 1, bytes);
    for (size_t done = 0; done < bytes;) {
        const ssize_t n = write(file, (char *)data + done, bytes - done);
        if (n <= 0)
            fail("write of far data", done, 0);
        done += n;
    }
    memset(other, 2, bytes);
    check("pushed out again", data, words, 1);
    for (size_t done = 0; done < bytes;) {
        const ssize_t n = pread(file, (char *)other + done, bytes - done, done);
        if (n <= 0)
            fail("read to far data", done, 0);
        done += n;
    }
    check("read", other, words, 1);
    munmap(other, bytes);
    close(file);
}

int main(int count, char **arguments) {
    bytes = (size_t)atoi(count > 1 ? arguments[1] : "24") << 20;
    words = bytes / 8;
    for (int round = 0; round < (count > 2 ? atoi(arguments[2]) : 1); round++) {
        uint64_t *data = malloc(bytes);
        fill(data, words, 1);
        forks(data);
        mappings(data);
        calls(data);
        pthread_t threads[3];
        for (uintptr_t t = 0; t < 3; t++)
            pthread_create(&threads[t], NULL, worker, (void *)(10 + t));
        forks(data);
        for (int t = 0; t < 3; t++)
            pthread_join(threads[t], NULL);
        for (uintptr_t t = 0; t < 3; t++)
            pthread_create(&threads[t], NULL, grower, (void *)(20 + t));
        forks(data);
        for (int t = 0; t < 3; t++)
            pthread_join(threads[t], NULL);
        data = realloc(data, 2 * bytes);
        check("realloc", data, words, 1);
        free(data);
    }
    puts("all as it should be");
    return 0;
}
