/* What the recording twins and the recorder agree on: plain C, included by the
 * plugin as well, which emits the same layouts as IR (compiler/plugin/Twins.cpp).
 *
 * A twin finds out by itself whether a reference hits its thread's *filter*: a
 * hashed selection of the lines that are in the modelled first-level cache, as
 * pointers to the ways that hold them.  A hit only counts and stamps the way with the
 * thread's clock; everything else is the recorder's.  LRU order in the first level is
 * the order of the stamps.
 */
#pragma once
#include <stdint.h>

enum {
    TC_LINE_SHIFT = 6,
    TC_FILTER_BITS = 10,
    TC_FILTER_ENTRIES = 1 << TC_FILTER_BITS,
    TC_ENTRY_SHIFT = 3,          /* a pointer's size */
    TC_STAMPS_PER_REFERENCE = 2, /* one for each line that it may touch */
    TC_WORK_PER_CALL = 8,        /* what a call counts as, in instructions */
    TC_WORK_WORD_SHIFT = 3,      /* an instruction for each word that a copy or fill moves */
    TC_WORK_UNTOLD = 8192        /* a loop tells its work, and looks up, after so much */
};

/* What twins are to do, when they are entered and at loops' headers: run as the plain code, or
 * record. */
enum { TC_TWINS_RUN = 0, TC_TWINS_RECORD = 1 };

/* Work that a thread's plain code has done, and at which its twins are to record, all threads'
 * with them. */
struct tc_work {
    uint64_t done, due;
};

/* Multiplicative hashing: arrays at a power-of-two distance, which real programs
 * walk together, would fight for one entry under plain bit selection.  32 bits, so that
 * the multiplier is part of the instruction. */
#define TC_FILTER_MULTIPLIER 0x9E3779B1u

/* A way of the first level, as one of eight in a block: each of its fields stands among
 * the same fields of the other seven, so that a search reads one line of the host's. A
 * way's address is that of its line number; so the eight of a block overlap. */
enum { TC_BLOCK_WAYS = 8 };
struct tc_way {
    uint64_t line, other_lines[TC_BLOCK_WAYS - 1];   /* line number; 0: empty */
    uint64_t stamp, other_stamps[TC_BLOCK_WAYS - 1]; /* last use */
    uint64_t loads, other_loads[TC_BLOCK_WAYS - 1];
    uint64_t stores, other_stores[TC_BLOCK_WAYS - 1];
    uint64_t owned, other_owned[TC_BLOCK_WAYS - 1]; /* the recorder's own */
};

struct tc_recorder {
    uint64_t clock;
    /* Work that the thread has done, by the twins' plain versions and by their recording ones
     * (TwinsVersions.h), about instructions: the same places count in either. */
    struct tc_work plain_work;
    uint64_t recorded_work;
    uint64_t unused[4];
    /* Never null; a way that holds another line by now tells so itself. */
    struct tc_way *filter[TC_FILTER_ENTRIES];
    /* The recorder's own follows. */
};

/* Byte offset in the filter of a line's entry. */
enum {
    TC_HASH_SHIFT = 32 - TC_FILTER_BITS - TC_ENTRY_SHIFT,
    TC_HASH_MASK = (TC_FILTER_ENTRIES - 1) << TC_ENTRY_SHIFT
};
#define TC_FILTER_OFFSET(line)                                                                     \
    ((uint32_t)(line) * TC_FILTER_MULTIPLIER >> TC_HASH_SHIFT & (uint32_t)TC_HASH_MASK)

/* A group of references that the program makes close together at constant distances
 * from one address, in the program's order. */
struct tc_reference {
    uint16_t offset;
    uint16_t bytes_and_store; /* bytes << 1 | is a store */
};
struct tc_producer {
    int32_t group;     /* of the load: bytes from the address of the group that this belongs to */
    uint16_t load;     /* which of its references */
    uint16_t consumer; /* whose address the load's value makes; in rising order */
};
enum { TC_COLUMN_BITS = 12 };
struct tc_position {
    int32_t place;            /* the function's name and the file's, each with its NUL: bytes from
                                 the address of the group that this belongs to */
    uint32_t line_and_column; /* line << TC_COLUMN_BITS | column; 0: not known */
};
/* Only a trace asks for what is behind the references: the producers, then a tc_position for
 * each reference. */
struct tc_group {
    uint16_t count;
    uint16_t producers;     /* how many */
    uint32_t loads, stores; /* among them */
    uint32_t bytes;         /* from its first byte to its last */
    struct tc_reference references[];
};

#ifdef __cplusplus
extern "C" {
/* Where a thread's plain work counts: its recorder's, once it has one. */
extern __thread struct tc_work *tc_work_here __attribute__((tls_model("initial-exec")));
/* The calling thread's recorder; null until its first twin runs. */
extern __thread struct tc_recorder *tc_recorder_here __attribute__((tls_model("initial-exec")));
#define TC_PRESERVE __attribute__((preserve_all))
/* The functions below keep all registers but r11, and vector registers because they
 * use none: twins call them from the middle of loops. */

/* Makes the thread's recorder; may be called again. */
struct tc_recorder *tc_recorder_make(void);
/* The same where a plain version is about to record. */
struct tc_recorder *tc_recorder_enter(void);
/* A group whose inline test failed.  `stamp`: the first of its stamps. */
TC_PRESERVE void tc_record_group(struct tc_recorder *, uintptr_t, const struct tc_group *,
                                 uint64_t stamp);
/* A whole range, one reference for each line of it. */
TC_PRESERVE void tc_record_load(struct tc_recorder *, const void *, uint64_t bytes);
TC_PRESERVE void tc_record_store(struct tc_recorder *, const void *, uint64_t bytes);
/* Loads and stores alternate, a line's worth at a time. */
TC_PRESERVE void tc_record_copy(struct tc_recorder *, const void *to, const void *from,
                                uint64_t bytes);
/* The active lanes of a vector in one place / of a vector of addresses. */
TC_PRESERVE void tc_record_lanes(struct tc_recorder *, const void *, uint64_t mask,
                                 uint64_t lane_bytes, uint64_t store);
TC_PRESERVE void tc_record_scattered(struct tc_recorder *, const uintptr_t *lanes, uint64_t mask,
                                     uint64_t lane_bytes, uint64_t store);
/* A function that somebody watches is entered, or left by its return; or control arrives in one
 * from frames below that are left without (an exception, longjmp).  `frame`: where the return
 * address is. */
struct tc_function;
TC_PRESERVE void tc_record_enter(struct tc_recorder *, const void *frame,
                                 const struct tc_function *, uint64_t stamp);
TC_PRESERVE void tc_record_leave(struct tc_recorder *, const void *frame,
                                 const struct tc_function *, uint64_t stamp);
TC_PRESERVE void tc_record_arrive(struct tc_recorder *, const void *frame,
                                  const struct tc_function *, uint64_t stamp);
/* Extents that only the data tells, in bytes. */
TC_PRESERVE uint64_t tc_extent_string(const char *, uint64_t limit);
TC_PRESERVE uint64_t tc_extent_wide(const uint32_t *, uint64_t limit);
TC_PRESERVE uint64_t tc_extent_compare(const unsigned char *, const unsigned char *, uint64_t limit,
                                       uint64_t stop_at_zero);
/* All elements of a Fortran descriptor (ISO_Fortran_binding.h); null is fine. */
TC_PRESERVE void tc_record_descriptor(struct tc_recorder *, const void *, uint64_t store);
}
#endif
