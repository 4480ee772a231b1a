/* What an annotated program and the runtime library agree on.
 *
 * Plain C, included by the runtime; the plugin emits the same layouts as IR
 * (compiler/plugin/Annotate.cpp asserts that they match).  A change here needs a
 * new TC_ABI_VERSION: the runtime refuses modules of another version by leaving
 * them unplaced, never by failing.
 */
#pragma once
#include <stddef.h>
#include <stdint.h>

#define TC_ABI_VERSION 6u

/* A site, in the annotated module's own .data (section "thermocline_sites").
 * `placement` is an index into the calling thread's heap table.  0 means "not
 * used yet": the table's entry 0 is always an empty heap, so that the first allocation at
 * a site takes the slow path, which resolves it.  That costs the fast path
 * nothing and tells which sites a run reached.  No counters here: threads would
 * fight for the line.
 */
struct tc_site {
    uint32_t placement; /* 0 = unresolved; written once, relaxed */
    uint32_t id;        /* process-wide number, given at registration; 0 = none */
    uint32_t key;       /* offset of the key in the module's table */
    uint32_t routine;   /* offset of the routine's name in the module's table */
};

/* A function that has a recording twin.  Offsets are relative to the address of
 * the field itself, so that the table needs no relocations. */
struct tc_twin {
    int32_t plain;
    int32_t twin;
};

/* What a function's twin says when it is entered and left.  In writable data; the first of a
 * module's stands for any of them. */
struct tc_function {
    int32_t name;     /* relative to this field: the name for people, then the symbol, each with
                         its NUL; the first one's is 0 */
    uint32_t watched; /* its row of the trace's table + 1; 0: nobody wants to know */
};

/* One per annotated module, passed to tc_module_load by a constructor that runs
 * before the module's others, and to tc_module_unload by its destructor. */
struct tc_module {
    uint32_t version; /* TC_ABI_VERSION */
    uint32_t site_count;
    struct tc_site *sites;
    const char *table; /* section "thermocline_keys", see docs/formats.md */
    uint64_t table_bytes;
    const struct tc_twin *twins;
    uint64_t twin_count;
    const void *twins_end; /* of the section that holds the twins' code */
    struct tc_function *functions;
    uint64_t function_count;
    uint32_t *recording; /* what its twins do: TC_TWINS_RUN, ... (trace/record.h) */
    void *runtime;       /* the runtime's own; zero in the file */
};

#ifdef __cplusplus
extern "C" {
#endif
void tc_module_load(struct tc_module *);
void tc_module_unload(struct tc_module *);

/* Annotated forms of the allocation routines: the same arguments, then the site.
 * The plugin declares them nonlazybind, so that a call goes through the GOT. */
void *tc_malloc(size_t, struct tc_site *);
void *tc_calloc(size_t, size_t, struct tc_site *);
void *tc_realloc(void *, size_t, struct tc_site *);
void *tc_reallocarray(void *, size_t, size_t, struct tc_site *);
int tc_posix_memalign(void **, size_t, size_t, struct tc_site *);
void *tc_aligned_alloc(size_t, size_t, struct tc_site *);
void *tc_memalign(size_t, size_t, struct tc_site *);
void *tc_valloc(size_t, struct tc_site *);
void *tc_pvalloc(size_t, struct tc_site *);
void *tc_new(size_t, struct tc_site *);                             /* _Znwm */
void *tc_new_array(size_t, struct tc_site *);                       /* _Znam */
void *tc_new_nothrow(size_t, const void *, struct tc_site *);       /* _ZnwmRKSt9nothrow_t */
void *tc_new_array_nothrow(size_t, const void *, struct tc_site *); /* _ZnamRKSt9nothrow_t */
void *tc_new_aligned(size_t, size_t, struct tc_site *);             /* _ZnwmSt11align_val_t */
void *tc_new_array_aligned(size_t, size_t, struct tc_site *);       /* _ZnamSt11align_val_t */
void *tc_new_aligned_nothrow(size_t, size_t, const void *, struct tc_site *);
void *tc_new_array_aligned_nothrow(size_t, size_t, const void *, struct tc_site *);

/* Library calls that allocate for their caller (strdup, getline, Fortran's
 * run-time library, ...) allocate outside the annotated program.  The plugin
 * puts `old = tc_carry(&site)` before such a call and `tc_carry(old)` after it;
 * in between, this thread's un-annotated allocations belong to the site. */
struct tc_site *tc_carry(struct tc_site *);
#ifdef __cplusplus
}
#endif
