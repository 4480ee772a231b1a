// Reads a word of each 64 KiB of data that is larger than near memory: from one end to the other,
// from the other to this one, or here and there; told by the second word.
//
// strided BYTES up|down|random
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { CHUNK = 64 << 10, ROUNDS = 3 };

int main(int count, char **arguments) {
    if (count != 3)
        return 2;
    const size_t bytes = strtoul(arguments[1], NULL, 10), chunks = bytes / CHUNK;
    const char *const way = arguments[2];
    char *const data =
        mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (data == MAP_FAILED)
        return 1;
    for (size_t at = 0; at < bytes; at += 4096)
        memcpy(data + at, &at, sizeof at);
    // Memory that is filled quickly is noticed late.
    for (unsigned char there = 1; getenv("THERMOCLINE_MIGRATE") && there & 1; usleep(1000))
        if (mincore(data, 4096, &there) != 0)
            return 1;
    uint64_t state = 1;
    for (size_t step = 0; step < ROUNDS * chunks; step++) {
        size_t chunk = step % chunks;
        if (strcmp(way, "down") == 0)
            chunk = chunks - 1 - chunk;
        if (strcmp(way, "random") == 0) {
            state = state * 6364136223846793005 + 1442695040888963407;
            chunk = (state >> 33) % chunks;
        }
        size_t is;
        memcpy(&is, data + chunk * CHUNK, sizeof is);
        if (is != chunk * CHUNK) {
            fprintf(stderr, "chunk %zu has the data of byte %zu\n", chunk, is);
            return 1;
        }
    }
    puts("all as it should be");
    return 0;
}
