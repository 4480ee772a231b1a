/* The raw stream: what a program that is being recorded writes to a pipe or a file.
 *
 * Plain C without a library, so that a recorder inside a program can write it with no
 * malloc, no compression and one write(2) a chunk.  docs/trace-format.md explains it;
 * simulator/trace/raw_reader.h reads it.  All numbers are little endian.
 *
 * A stream is chunks: a header of 64 bytes, then its payload.  The first chunk is META.
 * A chunk is at most 64 KiB in all.  Chunks of several threads follow each other in any
 * order, each thread's own in the thread's order.  A pipe takes only 4 KiB in one piece:
 * threads that share one need a lock around the write.
 */
#pragma once
#include <stdint.h>

#define TC_RAW_MAGIC 0x57524354u /* "TCRW" */
#define TC_RAW_VERSION 1u
#define TC_RAW_MAX_CHUNK 65536u
#define TC_RAW_MAX_PAYLOAD (TC_RAW_MAX_CHUNK - (uint32_t)sizeof(struct tc_raw_header))

enum tc_raw_chunk_kind {
    TC_RAW_META = 1,      /* a JSON object; later ones add to it and replace keys */
    TC_RAW_STATICS = 2,   /* rows of the table of static instructions */
    TC_RAW_OWNERS = 3,    /* rows of the table of owners */
    TC_RAW_FUNCTIONS = 4, /* rows of the table of functions that enter and leave name */
    TC_RAW_RECORDS = 5,   /* of one thread, in its order */
    TC_RAW_WINDOW = 6,    /* a sampling window has ended: struct tc_raw_window */
    TC_RAW_END = 7,       /* the program has ended: struct tc_raw_thread_end, one a thread */
    TC_RAW_PAGES = 9      /* ranges that were found in pages of 2 MiB: struct tc_raw_pages, or none.
                             Each chunk adds to the ones before.  8 is the trace file's own */
};

struct tc_raw_header {
    uint32_t magic; /* TC_RAW_MAGIC */
    uint16_t version;
    uint16_t kind;    /* enum tc_raw_chunk_kind */
    uint32_t bytes;   /* of the payload */
    uint32_t records; /* in the payload: records, rows or structs; META: 1 */
    uint32_t thread;  /* RECORDS: from 0, in the order of the threads' start */
    uint32_t window;  /* RECORDS: the sampling window that the thread is in before the first
             record; 0: none */
    uint64_t first_instruction; /* RECORDS: how many the thread had executed at its last record
                                   before this chunk, recorded or not; 0 at its first chunk */
    uint64_t begin_ns;          /* since recording began: of the first record, or of writing this */
    uint64_t end_ns;            /* RECORDS: of the last record */
    uint64_t reserved[2];       /* 0 */
};

enum tc_raw_record_kind {
    TC_RAW_REFERENCE = 0,
    TC_RAW_ALLOCATE = 1, /* address; owner: the site; size: `bytes` and `instruction`, see below */
    TC_RAW_RELEASE = 2,  /* address */
    TC_RAW_BEGIN = 3,    /* a sampling window begins for this thread: `owner` is its number, from
                            1; `address` instructions since the last record went unrecorded.
                            The functions that it is in are entered again */
    TC_RAW_ENTER = 4,    /* a function of interest; `instruction` is its row */
    TC_RAW_LEAVE = 5,
    TC_RAW_RETURN = 6 /* whole pages went back to the kernel, and read as zero when they are next
                         touched: address; size as of ALLOCATE */
};

/* One memory reference or event.  A reference is an instruction itself; `gap` are the other
 * instructions of the thread since its last record.  An event counts as no instruction. */
struct tc_raw_record {
    uint64_t address;
    uint32_t instruction; /* row of STATICS, or TC_RAW_NO_STATIC; ALLOCATE, RETURN: size >> 27 */
    uint32_t owner;       /* row of OWNERS */
    uint32_t gap;
    uint32_t
        word; /* kind: bits 0-3; store: bit 4; bytes: bits 5-31 (ALLOCATE, RETURN: the low 27) */
};
#define TC_RAW_NO_STATIC UINT32_MAX
#define TC_RAW_MAX_BYTES ((1u << 27) - 1)

static inline uint32_t tc_raw_word(enum tc_raw_record_kind kind, uint32_t store, uint32_t bytes) {
    return (uint32_t)kind | store << 4 | bytes << 5;
}

/* STATICS, OWNERS, FUNCTIONS: this head, then rows, for STATICS a list of producers, then
 * NUL-terminated strings.  A row comes before the first record that uses it; a row that comes
 * again replaces the earlier one. */
struct tc_raw_table {
    uint32_t first; /* the rows' first index */
    uint32_t rows;
    uint32_t producers; /* entries in the list of producers */
    uint32_t string_bytes;
};

struct tc_raw_static {
    uint32_t bytes; /* 0: differs from time to time */
    uint32_t store;
    uint32_t first_producer; /* index into this chunk's list, whose entries are row numbers */
    uint32_t producers;
    uint32_t position; /* "file:line:column function", as far as it is known: offset into this
                          chunk's strings */
};

struct tc_raw_name { /* OWNERS, FUNCTIONS */
    uint32_t name;   /* offset into this chunk's strings: a site's key, "(stack)", a function */
};

struct tc_raw_window {
    uint64_t number; /* from 1 */
    uint64_t begin_ns, end_ns;
    uint64_t instructions; /* of all threads, from the last window's end to this one's end */
};

struct tc_raw_thread_end {
    uint64_t thread;
    uint64_t instructions; /* that it executed, recorded or not */
    uint64_t references;   /* that were recorded */
    uint64_t dropped;      /* references that were lost without a window's saying so */
};

struct tc_raw_pages {
    uint64_t address, bytes; /* multiples of 2 MiB */
};
#define TC_RAW_LARGE_PAGE (1u << 21)

#ifdef __cplusplus
static_assert(sizeof(tc_raw_pages) == 16);
static_assert(sizeof(tc_raw_header) == 64 && sizeof(tc_raw_record) == 24);
static_assert(sizeof(tc_raw_static) == 20 && sizeof(tc_raw_name) == 4);
static_assert(sizeof(tc_raw_table) == 16 && sizeof(tc_raw_window) == 32);
static_assert(sizeof(tc_raw_thread_end) == 32);
#endif
