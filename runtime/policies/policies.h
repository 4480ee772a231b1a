/* Allocation over two kinds of memory and several sockets: Peng et al. 2019, section 5.
 *
 * Link with -lthermocline-policies.  No annotation, plan or allocator of ours is needed.  Each
 * call gives one contiguous, zeroed range, which tc_policy_free gives back; a range is worth its
 * mapping from some MiB on.  A call that fails returns NULL (or -1) before anything is allocated
 * or left in a file system, and tc_policy_error() says why in one line.  docs/policies.md
 */
#ifndef THERMOCLINE_POLICIES_H
#define THERMOCLINE_POLICIES_H
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

enum { TC_MAX_SOCKETS = 16, TC_MAX_FILES = 64 };

/* The memory of one socket: NUMA nodes. */
typedef struct tc_socket {
    int fast; /* DRAM beside Optane or CXL, HBM beside DRAM */
    int big;  /* -1: none */
} tc_socket;

typedef struct tc_memory {
    unsigned sockets;
    tc_socket socket[TC_MAX_SOCKETS];
    /* How bandwidth is divided where that of the two adds up, in percent; 0, 0: not known, or
     * they share channels. */
    unsigned fast_percent, big_percent;
} tc_memory;

/* As the text in THERMOCLINE_MEMORY says (`thermocline run --machine M` sets it), otherwise as
 * the kernel does; then without percentages. */
int tc_memory_detect(tc_memory *);

/* "0:2,1:3 weights 72:28": for each socket its fast and its big memory's node ("0:-": none),
 * then, if known, the percentages. */
int tc_memory_parse(tc_memory *, const char *text);

typedef struct tc_spill_options {
    const tc_memory *memory; /* NULL: tc_memory_detect */
    size_t block_bytes;      /* 0: 2 MiB, or more for ranges above 8 GiB; else whole pages */
    int weighted;            /* by the memory's percentages: for memories whose bandwidths add up */
} tc_spill_options;

/* Bandwidth spilling.  Blocks go round the sockets, and each lies in its socket's fast memory
 * until that is exhausted, then in its big memory.  Weighted: each socket's blocks are dealt to
 * its two memories by the percentages.  NULL options: all zero. */
void *tc_spill(size_t bytes, const tc_spill_options *);

enum {
    TC_ALLOW_PAGE_CACHE = 1 /* files need not be on DAX: to try it out, or on a plain disk */
};

typedef struct tc_isolation_options {
    const tc_memory *memory; /* NULL: tc_memory_detect */
    size_t block_bytes;      /* as above */
    /* Of tc_read_mostly: a directory on each file system of big memory, one for each socket;
     * none: the big memories' nodes. */
    const char *const *directories;
    unsigned directory_count;
    unsigned flags;
} tc_isolation_options;

/* Write isolation: what is often written in fast memory, blocks round the sockets; ... */
void *tc_write_heavy(size_t bytes, const tc_isolation_options *);

/* ... and what is mostly read split into blocks that go round the big memories, or round files
 * there, one in each directory, which have no name and end with the range. */
void *tc_read_mostly(size_t bytes, const tc_isolation_options *);

void tc_policy_free(void *start, size_t bytes);

/* Moves the calling thread to the processors nearest to the memory that p's page lies in. */
int tc_run_near(const void *p);

/* At most that many threads between tc_write_begin and tc_write_end at once, for memory that
 * more writers make slower (Peng et al. 2019, insight IV).  0: no limit, as at the start. */
void tc_limit_writers(unsigned most);
void tc_write_begin(void);
void tc_write_end(void);

/* Why this thread's last call failed; "" before the first. */
const char *tc_policy_error(void);

#ifdef __cplusplus
}
#endif
#endif
