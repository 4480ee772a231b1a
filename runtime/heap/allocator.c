/* mimalloc's source as one unit of this library, with changes made from outside:
 * it starts when we say (its constructor could run after the first malloc), and it tells
 * us when a thread's heaps go, and when it commits and decommits memory.
 */
#define MI_PRIM_HAS_PROCESS_ATTACH 1
#define MI_SKIP_COLLECT_ON_EXIT 1 /* a collection on the main thread would mix heaps */
#define MI_SHARED_LIB_EXPORT 1

#include "mimalloc.h"
#include "mimalloc/internal.h"

#include "alloc.c" /* includes free.c */

#include "alloc-aligned.c"
#include "alloc-posix.c"
#include "arena.c"
#include "bitmap.c"
#include "heap.c"
#include "init.c"
#include "libc.c"
#include "options.c"
static int prim_commit(void *start, size_t bytes, bool *is_zero);
static int prim_decommit(void *start, size_t bytes, bool *needs_recommit);
#define _mi_prim_commit prim_commit
#define _mi_prim_decommit prim_decommit
#include "os.c"
#undef _mi_prim_commit
#undef _mi_prim_decommit
#include "page.c"
#include "random.c"
#include "segment-map.c"
#include "segment.c"
#include "stats.c"
static void thread_done(mi_heap_t *heap);
#define _mi_thread_done thread_done
#include "prim/prim.c"
#undef _mi_thread_done

#include "allocator.h"

_Static_assert(ALLOC_SEGMENT_BYTES == MI_SEGMENT_SIZE, "segment size");
_Static_assert(ALLOC_SMALL_MAX == MI_SMALL_SIZE_MAX, "small blocks");
_Static_assert(ALLOC_ALIGN_MAX == MI_BLOCK_ALIGNMENT_MAX, "alignment");
_Static_assert(sizeof(mi_memid_t) <= 32, "memid fits what callers keep for it");

/* mimalloc's pthread key ran its destructor: forget the thread's heaps first, since
 * later destructors may allocate. */
static void thread_done(mi_heap_t *heap) {
    alloc_thread_ends();
    _mi_thread_done(heap);
}

static int prim_commit(void *start, size_t bytes, bool *is_zero) {
    /* More than was asked for is within the same segment, which has several units. */
    const size_t unit = alloc_commit_unit(start);
    const uintptr_t from = (uintptr_t)start & ~(unit - 1);
    const uintptr_t to = ((uintptr_t)start + bytes + unit - 1) & ~(unit - 1);
    alloc_commits((void *)from, to - from);
    const int error = _mi_prim_commit((void *)from, to - from, is_zero);
    if (error)
        alloc_decommits(start, bytes);
    return error;
}

static int prim_decommit(void *start, size_t bytes, bool *needs_recommit) {
    const int saved = errno; /* free must leave it alone */
    const int error = _mi_prim_decommit(start, bytes, needs_recommit);
    /* On an error (the program has locked its memory) the pages stay, and so does the grant. */
    if (error == 0 && alloc_decommits(start, bytes))
        *needs_recommit = true;
    errno = saved;
    return error;
}

void alloc_commit_lazily(void) { mi_option_set(mi_option_eager_commit, 0); }

static void on_error(int error, void *unused) {
    MI_UNUSED(unused);
    if (error == ENOMEM || error == EOVERFLOW)
        errno = ENOMEM;
}

void alloc_start(void) {
    mi_register_error(on_error, NULL);
    _mi_auto_process_init();
}

mi_heap_t *alloc_default_heap(void) { return mi_heap_get_default(); }

mi_heap_t *alloc_new_heap(int arena, unsigned tag) {
    return mi_heap_new_ex((int)tag, false, arena);
}

bool alloc_add_range(void *start, size_t bytes, int *arena) {
    return mi_manage_os_memory_ex(start, bytes, false /* committed */, false /* large */,
                                  true /* zero */, -1, true /* exclusive */, arena);
}

void *alloc_try_small(mi_heap_t *heap, size_t size) {
    mi_page_t *const page = _mi_heap_get_free_small_page(heap, size);
    mi_block_t *const block = page->free;
    if mi_likely (block != NULL) {
        page->free = mi_block_next(page, block);
        page->used++;
    }
    return block;
}

void *alloc_try_small_zero(mi_heap_t *heap, size_t size) {
    mi_page_t *const page = _mi_heap_get_free_small_page(heap, size);
    return page->free ? _mi_page_malloc_zero(heap, page, size, true, NULL) : NULL;
}

void *alloc_block(mi_heap_t *heap, size_t size, size_t align, bool zero) {
    if (size < 9)
        size = 16; /* see alloc_try_small */
    return align <= MI_MAX_ALIGN_SIZE
               ? _mi_heap_malloc_zero(heap, size, zero)
               : mi_heap_malloc_zero_aligned_at(heap, size, align, 0, zero, NULL);
}

/* mi_free without its test for null, which the caller has made. */
void alloc_free(void *p) {
    mi_segment_t *const segment = (mi_segment_t *)((uintptr_t)p & ~MI_SEGMENT_MASK);
    mi_page_t *const page = _mi_segment_page_of(segment, p);
    if mi_likely (_mi_prim_thread_id() == mi_atomic_load_relaxed(&segment->thread_id)) {
        if mi_likely (page->flags.full_aligned == 0)
            mi_free_block_local(page, (mi_block_t *)p, false, true, false);
        else
            mi_free_generic_local(page, segment, p);
    } else {
        mi_free_generic_mt(page, segment, p);
    }
}

size_t alloc_usable(const void *p) { return mi_usable_size(p); }

bool alloc_owns(const void *p) { return mi_is_in_heap_region(p); }

int alloc_heap_arena(const mi_heap_t *heap) { return heap->arena_id; }

void *alloc_segments(int arena, size_t bytes, void *memid) {
    mi_memid_t id;
    void *p = _mi_arena_alloc_aligned(bytes, MI_SEGMENT_ALIGN, 0, true, false, arena, &id);
    _mi_memcpy(memid, &id, sizeof id);
    return p;
}

void alloc_free_segments(void *p, size_t bytes, const void *memid) {
    mi_memid_t id;
    _mi_memcpy(&id, memid, sizeof id);
    _mi_arena_free(p, bytes, bytes, id);
}

void alloc_before_fork(void) {
    mi_lock_acquire(&mi_subproc_default.abandoned_os_visit_lock);
    mi_lock_acquire(&mi_subproc_default.abandoned_os_lock);
}

void alloc_after_fork(bool child) {
    MI_UNUSED(child); /* the child owns both: the forking thread took them */
    mi_lock_release(&mi_subproc_default.abandoned_os_lock);
    mi_lock_release(&mi_subproc_default.abandoned_os_visit_lock);
}
