// Three sites below the migration engine: one that a plan keeps near, one that it keeps far, one
// of which it says nothing.  The kernel says what is in place (mincore); what is not is far.
//
// planned NEAR_BYTES: waits until the engine has seen to the data; 0: there is none.
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

enum { PAGE = 4096, HOT = 6 << 20, COLD = 16 << 20, OTHER = 20 << 20 };

__attribute__((noinline)) static void *hot_data(void) { return aligned_alloc(PAGE, HOT); }
__attribute__((noinline)) static void *cold_data(void) { return aligned_alloc(PAGE, COLD); }
__attribute__((noinline)) static void *other_data(void) { return aligned_alloc(PAGE, OTHER); }

static uint64_t value(size_t at, uint64_t salt) { return (at + salt) * 0x9e3779b97f4a7c15; }

static void fill(uint64_t *data, size_t bytes, uint64_t salt) {
    for (size_t at = 0; at < bytes / 8; at++)
        data[at] = value(at, salt);
}

// Reads and writes it, from one end to the other.
static uint64_t sum(volatile uint64_t *data, size_t bytes, uint64_t salt) {
    uint64_t all = 0;
    for (size_t at = 0; at < bytes / 8; at++) {
        if (data[at] != value(at, salt)) {
            fprintf(stderr, "word %zu of %zu bytes is wrong\n", at, bytes);
            exit(1);
        }
        data[at] = value(at, salt);
        all += data[at];
    }
    return all;
}

static size_t in_place(const void *data, size_t bytes) {
    static unsigned char there[OTHER / PAGE];
    size_t found = 0;
    if (mincore((void *)data, bytes, there) != 0)
        return 0;
    for (size_t page = 0; page < bytes / PAGE; page++)
        found += (there[page] & 1) * PAGE;
    return found;
}

int main(int count, char **arguments) {
    const size_t near = count > 1 ? strtoul(arguments[1], NULL, 10) : 0;
    uint64_t *hot = hot_data(), *cold = cold_data(), *other = other_data();
    fill(hot, HOT, 1);
    fill(cold, COLD, 2);
    fill(other, OTHER, 3);
    uint64_t all = 0;
    size_t missing = 0;
    for (int round = 0; round < 2; round++) {
        // Of what is kept far a sixty-fourth of near memory may visit.
        while (near && in_place(cold, COLD) > near / 64)
            usleep(10000);
        all += sum(other, OTHER, 3);
        missing += HOT - in_place(hot, HOT);
        all += sum(cold, COLD / 8, 2);
        missing += HOT - in_place(hot, HOT);
        while (near && in_place(cold, COLD) > near / 64)
            usleep(10000);
    }
    all += sum(hot, HOT, 1);
    printf("%llx\n", (unsigned long long)all);
    if (near && missing) {
        fprintf(stderr, "%zu bytes of what should stay near were not there\n", missing);
        return 1;
    }
    if (near && in_place(other, OTHER) > near) {
        fprintf(stderr, "more than near memory is in place\n");
        return 1;
    }
    return 0;
}
