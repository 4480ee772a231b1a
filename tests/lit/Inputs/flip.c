/* Has the twins of a program change over as often as can be: stands in front of the library's
 * tc_module_load, to learn where the module's word is, and has a thread write it. */
#define _GNU_SOURCE
#include "abi.h"
#include "trace/record.h"
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static uint32_t *volatile word;
static unsigned long flips;

static void *flip(void *unused)
{
    uint32_t state = 1;
    for (;; flips++) {
        state = state * 1664525u + 1013904223u;
        __atomic_store_n(word, (state >> 24) % 2, __ATOMIC_RELAXED);
        for (volatile unsigned i = 0; i < (state >> 16) % 300; i++)
            ;
    }
    return unused;
}

__attribute__((constructor)) static void start(void)
{
    pthread_t thread;
    if (word && pthread_create(&thread, NULL, flip, NULL) == 0)
        pthread_detach(thread);
}

__attribute__((destructor)) static void end(void)
{
    fprintf(stderr, "%s\n", flips > 100 ? "flipped" : "did not flip");
}

void tc_module_load(struct tc_module *module)
{
    void (*real)(struct tc_module *) = (void (*)(struct tc_module *))dlsym(RTLD_NEXT, "tc_module_load");
    real(module);
    if (!word && module->recording)
        word = module->recording;
}
