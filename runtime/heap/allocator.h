/* The allocator underneath: mimalloc 2.3.2, compiled into the library.
 *
 * allocator.c is the only file that includes mimalloc's source, and this header is
 * all that the rest of the runtime sees of it.
 */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct mi_heap_s mi_heap_t;

/* A mimalloc segment.  No block of mimalloc's starts at a multiple of it, since a
 * segment begins with its header: such an address is null, or a block of our own
 * (huge alignment). */
#define ALLOC_SEGMENT_BYTES ((size_t)32 << 20)
#define ALLOC_SMALL_MAX ((size_t)1024)     /* mimalloc's MI_SMALL_SIZE_MAX */
#define ALLOC_ALIGN_MAX ((size_t)16 << 20) /* the largest alignment that mimalloc's heaps serve */

/* The start of mimalloc, without its own constructors.  Once, before anything else. */
void alloc_start(void);

/* The calling thread's own heap; makes it if the thread is new (or already ended:
 * destructors of other libraries may still allocate). */
mi_heap_t *alloc_default_heap(void);

/* A heap of the calling thread that takes its memory from one range only. */
mi_heap_t *alloc_new_heap(int arena, unsigned tag);

/* Hand over an address range, reserved with PROT_NONE, for heaps of its own. */
bool alloc_add_range(void *start, size_t bytes, int *arena);

/* A heap with nothing in it and no thread: what a table of heaps holds where there is none
 * yet.  Its fast path always fails, so that no one needs to test for it. */
extern const mi_heap_t _mi_heap_empty;
#define ALLOC_EMPTY_HEAP ((mi_heap_t *)&_mi_heap_empty)

/* Blocks.  The first two only look at the free list that fits, and are null if it is empty.
 * They want 9 <= size <= ALLOC_SMALL_MAX: mimalloc aligns blocks of 8 bytes and less to 8
 * only, and malloc promises 16. */
void *alloc_try_small(mi_heap_t *, size_t size);
void *alloc_try_small_zero(mi_heap_t *, size_t size);
void *alloc_block(mi_heap_t *, size_t size, size_t align, bool zero); /* align 0: malloc's */
void alloc_free(void *);                                              /* never null */
size_t alloc_usable(const void *);
bool alloc_owns(const void *); /* for any address */

/* Whole segments of a range, for alignments that mimalloc has no heap for. */
/* 0: the arena that any heap may use. */
int alloc_heap_arena(const mi_heap_t *);
void *alloc_segments(int arena, size_t bytes, void *memid_32_bytes);
void alloc_free_segments(void *, size_t bytes, const void *memid_32_bytes);

/* Around fork: mimalloc's own locks. */
void alloc_before_fork(void);
void alloc_after_fork(bool child);

/* Commit no more of a segment than is handed out, so that commits are a measure of use. */
void alloc_commit_lazily(void);

/* What allocator.c calls back.  Memory is about to be committed; has been given back to the
 * kernel: true if it must be committed again before its next use. */
void alloc_commits(void *start, size_t bytes);
/* What is committed around an address is so aligned and so large, a power of two; 1: anything. */
size_t alloc_commit_unit(const void *start);
bool alloc_decommits(void *start, size_t bytes);
void alloc_thread_ends(void); /* the calling thread's heaps are about to go */

#ifdef __cplusplus
}
#endif
