/* allocation_path PAIRS THREADS: mallocs and frees, as many pairs as asked for, by
 *   -DGUIDED  an annotated site, as the plugin would compile it;
 *   -DOWN     mimalloc's own entries;
 *   neither   nothing: what the loop itself costs.
 *
 * Blocks of 16 to 144 bytes from a ring of 1024, so that each lives for a while.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#if defined(GUIDED)
#include "abi.h"
static const char table[] = "thermocline-sites 1 module=allocation_path context=0\0"
                            "allocation_path!work@bench/allocation_path.c:1\0malloc\0001\0";
enum { KEY = sizeof "thermocline-sites 1 module=allocation_path context=0" };
static struct tc_site site = {0, 0, KEY,
                              KEY + sizeof "allocation_path!work@bench/allocation_path.c:1"};
static struct tc_module module = {TC_ABI_VERSION, 1, &site, table, sizeof table, NULL, 0, NULL};
#define TAKE(size) tc_malloc(size, &site)
#define GIVE(p) free(p)
#elif defined(OWN)
void *mi_malloc(size_t);
void mi_free(void *);
#define TAKE(size) mi_malloc(size)
#define GIVE(p) mi_free(p)
#else
static char block[256];
#define TAKE(size) (block + (size))
#define GIVE(p) __asm__ volatile("" : : "r"(p))
#endif

enum { RING = 1024 };
static size_t pairs;

static void *work(void *unused) {
    void *ring[RING] = {0};
    unsigned char sizes[RING];
    unsigned seed = 1;
    for (int i = 0; i < RING; i++) {
        seed = seed * 1664525u + 1013904223u;
        sizes[i] = (unsigned char)(16 + (seed >> 16) % 129);
        ring[i] = TAKE(sizes[i]);
    }
    for (size_t i = 0; i < pairs; i++) {
        const size_t at = i * 7 & (RING - 1); /* freed and taken in another order */
        GIVE(ring[at]);
        ring[at] = TAKE(sizes[i & (RING - 1)]);
    }
    for (int i = 0; i < RING; i++)
        GIVE(ring[i]);
    return unused;
}

int main(int argc, char **argv) {
    if (argc != 3)
        return 2;
    pairs = strtoull(argv[1], NULL, 10);
    const int count = atoi(argv[2]);
#if defined(GUIDED)
    tc_module_load(&module);
#endif
    pthread_t threads[64];
    for (int i = 1; i < count && i < 64; i++)
        pthread_create(&threads[i], NULL, work, NULL);
    work(NULL);
    for (int i = 1; i < count && i < 64; i++)
        pthread_join(threads[i], NULL);
#if defined(GUIDED)
    if (site.placement == 0) /* it never took the path that is measured */
        return 3;
#endif
    printf("done\n");
    return 0;
}
