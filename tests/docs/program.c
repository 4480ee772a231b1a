/* Stands for the programs that the documentation names: three sites, a few MiB, a moment. */
#include <stdio.h>
#include <stdlib.h>

enum { hot_bytes = 1 << 20, cold_bytes = 3 << 20 };

__attribute__((noinline)) static char *hot(void) { return malloc(hot_bytes); }
__attribute__((noinline)) static char *cold(void) { return malloc(cold_bytes); }

int main(int argc, char **argv) {
    char *often = hot(), *once = cold(), *copy = malloc(4096);
    long sum = 0;
    for (long i = 0; i < cold_bytes; i += 64)
        once[i] = (char)i;
    for (int round = 0; round < 4; round++)
        for (long i = 0; i < hot_bytes; i += 64)
            sum += often[i] += (char)(round + argc);
    copy[0] = once[64];
    printf("%s: %ld\n", argv[0], sum + copy[0]);
    return 0;
}
