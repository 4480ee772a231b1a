/* A stand-in for the runtime that tells which site each allocation reached.
 *
 * KEYS=1 prints "routine key" on stderr; tc_stub_key() is the last key,
 * for programs that check themselves. */
#define _GNU_SOURCE
#include "abi.h"
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static struct tc_module *modules[64];
static __thread struct tc_site *carried;
static __thread const char *last_key;

const char *tc_stub_key(void) { return last_key; }

static int asked(const char *name) { return getenv(name) != NULL; }

void tc_module_load(struct tc_module *module)
{
    if (asked("KEYS_LOAD"))
        dprintf(2, "load %u sites\n", module->site_count);
    for (int i = 0; i < 64; i++)
        if (!modules[i]) {
            modules[i] = module;
            return;
        }
    abort();
}

void tc_module_unload(struct tc_module *module)
{
    if (asked("KEYS_LOAD"))
        dprintf(2, "unload %u sites\n", module->site_count);
    for (int i = 0; i < 64; i++)
        if (modules[i] == module)
            modules[i] = NULL;
}

static void reach(struct tc_site *site)
{
    for (int i = 0; i < 64; i++) {
        struct tc_module *module = modules[i];
        if (!module || site < module->sites || site >= module->sites + module->site_count)
            continue;
        last_key = module->table + site->key;
        if (asked("KEYS"))
            dprintf(2, "%s %s\n", module->table + site->routine, last_key);
        return;
    }
    dprintf(2, "stub: a site of no module\n");
    abort();
}

struct tc_site *tc_carry(struct tc_site *site)
{
    struct tc_site *old = carried;
    carried = site;
    if (site)
        reach(site);
    else if (asked("KEYS"))
        dprintf(2, "carried\n");
    return old;
}

/* The C++ library's operators, where the program has them. */
__attribute__((weak)) void *_Znwm(size_t);
__attribute__((weak)) void *_Znam(size_t);
__attribute__((weak)) void *_ZnwmRKSt9nothrow_t(size_t, const void *);
__attribute__((weak)) void *_ZnamRKSt9nothrow_t(size_t, const void *);
__attribute__((weak)) void *_ZnwmSt11align_val_t(size_t, size_t);
__attribute__((weak)) void *_ZnamSt11align_val_t(size_t, size_t);
__attribute__((weak)) void *_ZnwmSt11align_val_tRKSt9nothrow_t(size_t, size_t, const void *);
__attribute__((weak)) void *_ZnamSt11align_val_tRKSt9nothrow_t(size_t, size_t, const void *);

#define ENTRY(TYPE, NAME, CALL, ...)                                                               \
    TYPE NAME(__VA_ARGS__, struct tc_site *site)                                                   \
    {                                                                                              \
        reach(site);                                                                               \
        return CALL;                                                                               \
    }
ENTRY(void *, tc_malloc, malloc(n), size_t n)
ENTRY(void *, tc_calloc, calloc(a, n), size_t a, size_t n)
ENTRY(void *, tc_realloc, realloc(p, n), void *p, size_t n)
ENTRY(void *, tc_reallocarray, reallocarray(p, a, n), void *p, size_t a, size_t n)
ENTRY(int, tc_posix_memalign, posix_memalign(p, a, n), void **p, size_t a, size_t n)
ENTRY(void *, tc_aligned_alloc, aligned_alloc(a, n), size_t a, size_t n)
ENTRY(void *, tc_memalign, memalign(a, n), size_t a, size_t n)
ENTRY(void *, tc_valloc, valloc(n), size_t n)
ENTRY(void *, tc_pvalloc, pvalloc(n), size_t n)
ENTRY(void *, tc_new, _Znwm(n), size_t n)
ENTRY(void *, tc_new_array, _Znam(n), size_t n)
ENTRY(void *, tc_new_nothrow, _ZnwmRKSt9nothrow_t(n, t), size_t n, const void *t)
ENTRY(void *, tc_new_array_nothrow, _ZnamRKSt9nothrow_t(n, t), size_t n, const void *t)
ENTRY(void *, tc_new_aligned, _ZnwmSt11align_val_t(n, a), size_t n, size_t a)
ENTRY(void *, tc_new_array_aligned, _ZnamSt11align_val_t(n, a), size_t n, size_t a)
ENTRY(void *, tc_new_aligned_nothrow, _ZnwmSt11align_val_tRKSt9nothrow_t(n, a, t), size_t n,
      size_t a, const void *t)
ENTRY(void *, tc_new_array_aligned_nothrow, _ZnamSt11align_val_tRKSt9nothrow_t(n, a, t), size_t n,
      size_t a, const void *t)
