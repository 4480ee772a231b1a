/* A malloc that asks the C library's backtrace for each allocation's call path and counts paths in
 * a table: what tools did that tell call paths apart at run time (Olson et al. 2018, VI.A). */
#include <errno.h>
#include <execinfo.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

void *__libc_malloc(size_t);
void *__libc_calloc(size_t, size_t);
void *__libc_realloc(void *, size_t);
void *__libc_memalign(size_t, size_t);

/* The allocating call and four callers, behind this library's two frames. */
enum { OWN = 2, FRAMES = OWN + 5, SLOTS = 1 << 16 };

static _Atomic uint64_t paths[SLOTS];
static _Thread_local int inside;

__attribute__((noinline)) static void note(void) {
    if (inside)
        return;
    inside = 1;
    void *frames[FRAMES];
    const int found = backtrace(frames, FRAMES);
    uint64_t hash = 14695981039346656037u;
    for (int i = OWN; i < found; i++)
        hash = (hash ^ (uintptr_t)frames[i]) * 1099511628211u;
    hash |= 1;
    for (uint64_t at = hash >> 40, tried = 0; tried < SLOTS; at++, tried++) {
        uint64_t there = 0;
        if (atomic_compare_exchange_strong(&paths[at % SLOTS], &there, hash) || there == hash)
            break;
    }
    inside = 0;
}

void *malloc(size_t size) {
    note();
    return __libc_malloc(size);
}
void *calloc(size_t count, size_t size) {
    note();
    return __libc_calloc(count, size);
}
void *realloc(void *block, size_t size) {
    note();
    return __libc_realloc(block, size);
}
void *memalign(size_t alignment, size_t size) {
    note();
    return __libc_memalign(alignment, size);
}
void *aligned_alloc(size_t alignment, size_t size) {
    note();
    return __libc_memalign(alignment, size);
}
int posix_memalign(void **block, size_t alignment, size_t size) {
    note();
    void *found = __libc_memalign(alignment, size);
    if (!found)
        return ENOMEM;
    *block = found;
    return 0;
}
