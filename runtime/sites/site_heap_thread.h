// A thread's part of the profiling heap: nothing here is written by two threads, but for what a
// Span says.
#pragma once
#include "site_heap_span.h"
#include "site_stats.h"

struct SiteCache;

// What tells a site's bins apart.
constexpr uint32_t bin_key(uint32_t site, unsigned size_class) { return site << 7 | size_class; }
static_assert(class_count <= 1 << 7);

// One thread's spans of one size class: of a site, or (site 0) tagged.
struct Bin {
    Span *current;
    Bin *from; // whose slots its blocks get: its own, or until it has earned that, tagged ones
    SiteCache *cache;
    Bin *next;            // of the same site
    Span *partial, *full; // doubly linked
    uint32_t site;
    uint32_t key;
    uint32_t slot_bytes; // of its own spans
    uint8_t size_class;
    bool resting; // in ThreadHeap::resting
    // What earning a span is decided on: the slots this thread took for this bin from tagged
    // spans, less those it gave back, and how much smaller its own slots would be.
    int32_t tagged_bytes, tagged_waste;

    bool earned() const { return from == this; } // has spans of its own from now on
};

struct SiteCache {
    SiteCounters counters;
    Bin *bins;
    uint32_t site; // as in SiteHeapRange::owners
};

struct ThreadHeap {
    static constexpr unsigned chunk_shift = 10;
    static constexpr unsigned chunk_sites = 1u << chunk_shift;
    static constexpr unsigned resting_bins = 32;

    // Bins by a hash of their key: site and class lead to a bin with one load.
    static constexpr unsigned recent_shift = 9;
    Bin *recent[1 << recent_shift];
    std::atomic<SiteCache **> chunks[site_limit >> chunk_shift];
    Bin tagged[first_medium_class];
    std::atomic<Span *> returned; // full spans that other threads emptied
    // Bins whose current span became empty.  A bin that leaves the ring gives the span back: this
    // bounds what empty spans hold, without a system call each time a span empties.
    Bin *resting[resting_bins];
    unsigned next_resting;
    static constexpr unsigned parked_most = 8;
    static constexpr size_t parked_units_most = 32; // 2 MiB
    Span *parked[parked_most];                      // the oldest first; null behind the last
    size_t parked_units;
    char *arena, *arena_end;
    std::atomic<uintptr_t> stack_frame; // an address on the thread's stack
    ThreadHeap *next_heap, *next_unused;

    Bin *&recent_bin(uint32_t key) { return recent[key * 2654435761u >> (32 - recent_shift)]; }
    SiteCache *find(uint32_t site) {
        SiteCache **chunk = chunks[site >> chunk_shift].load(std::memory_order_acquire);
        return chunk ? __atomic_load_n(&chunk[site % chunk_sites], __ATOMIC_ACQUIRE) : nullptr;
    }
};

// The calling thread's, if it has one already.
extern __thread ThreadHeap *own_site_heap __attribute__((tls_model("initial-exec")));
// The calling thread's, made or adopted at first use; null when memory is out.
ThreadHeap *thread_site_heap();
// The calling thread's cache of a site.
SiteCache *site_cache(ThreadHeap *, uint32_t site);
Bin *site_bin(ThreadHeap *, SiteCache *, unsigned size_class);

// All heaps that ever were; a heap whose thread ended stays for the next thread.
ThreadHeap *first_site_heap();

// A slot of the bin's spans: null when memory is out.  `fresh`: it reads as zero.
struct Slot {
    Span *span;
    unsigned index;
    bool fresh;
};
Slot bin_take(ThreadHeap *, Bin *);
void slot_give(ThreadHeap *, Span *, unsigned index);
// Releases the full spans that other threads emptied.
void take_returned(ThreadHeap *);
// Leaves the bin's spans to other threads.
void end_bin(Bin *);
void lock_abandoned(); // for fork
void unlock_abandoned();

// Large blocks that a thread freed keep their pages for a while, for the next of the same site and
// size: else each pair of a malloc and a free costs two system calls and a fault per page.  At
// most ThreadHeap::parked_units_most units a thread.
void park_large(ThreadHeap *, Span *);
Span *unpark_large(ThreadHeap *, uint32_t site, size_t units, size_t align_units);
void release_parked(ThreadHeap *);

// A site earns spans of its own, thread by thread and class by class, by what it holds in tagged
// ones, or by what rounding up to whole lines has cost.  Earlier would waste memory: the site's old
// slots are of use to others only as far as these still come (bench/site_heap.py).  Variables so
// that tests can have it early.
extern int32_t earned_at_bytes, earned_at_waste;

void site_heap_at_fork();
// Called at the first allocation or free after a fork, in the child, when not null.  Not from the
// fork itself: other libraries' locks may still be held there.
extern void (*first_use_in_child)();
