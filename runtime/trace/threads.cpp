// Recorders come and go with the threads; start, fork, and the sums over all of them.
#include "config.h"
#include "own_memory.h"
#include "owners.h"
#include "recorder.h"
#include "stream.h"
#include "tier_traffic.h"
#include "twin_work.h"
#include "unseen.h"
#include <pthread.h>
#include <sched.h>
#include <sys/mman.h>

__thread tc_recorder *tc_recorder_here __attribute__((tls_model("initial-exec")));
// Threads that have not recorded yet share a count, and may lose some of it.
static tc_work work_of_others = {0, UINT64_MAX};
__thread tc_work *tc_work_here __attribute__((tls_model("initial-exec"))) = &work_of_others;

namespace tc {

static pthread_key_t thread_end;
static unsigned char making; // lock over the list of recorders

// Apart from the program's data, so that the profile does not count it as the program's.
static void *map(size_t bytes) { return own_memory_map(bytes); }

// For what is used all over at random: on huge pages, or address translation would cost
// more than the model does.
static void *map_huge(size_t bytes) {
    constexpr size_t huge = size_t(2) << 20;
    bytes = (bytes + huge - 1) & ~(huge - 1);
    auto start = reinterpret_cast<uintptr_t>(map(bytes + huge));
    if (!start)
        return nullptr;
    void *aligned = reinterpret_cast<void *>((start + huge - 1) & ~(huge - 1));
    madvise(aligned, bytes, MADV_HUGEPAGE);
    return aligned;
}

static void lock() {
    while (__atomic_exchange_n(&making, 1, __ATOMIC_ACQUIRE))
        __builtin_ia32_pause();
}
static void unlock() { __atomic_store_n(&making, 0, __ATOMIC_RELEASE); }

// Twins have no way to do without a recorder: one that can't be had ends the program,
// like a stack that can't grow.
static Recorder *make() {
    size_t blocks = model.first.sets() * model.set_blocks;
    // One piece: the recorder, the first level and the other private levels.
    size_t first = (sizeof(Recorder) + 63) & ~size_t(63);
    size_t own = first + blocks * sizeof(tc_way), bytes = own;
    for (unsigned level = 1; level < model.levels; level++)
        if (!model.geometry[level].shared)
            bytes += Cache::words(model.geometry[level]) * sizeof(uint64_t);
    auto *memory = static_cast<char *>(map_huge(bytes));
    void *traffic = map((size_t(max_owner) + 1) * sizeof(Traffic));
    if (!memory || !traffic)
        __builtin_trap();

    auto *r = reinterpret_cast<Recorder *>(memory);
    r->traffic = static_cast<Traffic *>(traffic);
    r->twins.clock = 1;
    r->twins.plain_work.due = UINT64_MAX;
    for (tc_way *&way : r->twins.filter)
        way = &r->no_way;
    r->blocks = memory + first;
    // What only fills a set's last block is never the way that was used longest ago.
    for (size_t block = 0; block < blocks; block++)
        for (uint64_t i = 0; i < TC_BLOCK_WAYS; i++)
            (&reinterpret_cast<tc_way *>(r->blocks)[block].stamp)[i] = UINT64_MAX;
    each_way(*r, [](tc_way &way) { way.stamp = 0; });
    for (unsigned level = 1; level < model.levels; level++) {
        if (model.geometry[level].shared)
            continue;
        r->own[level].init(model.geometry[level], reinterpret_cast<uint64_t *>(memory + own));
        own += Cache::words(model.geometry[level]) * sizeof(uint64_t);
    }
    return r;
}

static void end_of_thread(void *p) {
    auto *r = static_cast<Recorder *>(p);
    drain(*r);
    stream_flush(*r);
    // Twins in destructors that are still to run make themselves a recorder again.
    tc_recorder_here = nullptr;
    tc_work_here = &work_of_others;
    r->stack_low = r->stack_high = 0;
    __atomic_store_n(&r->in_use, 0, __ATOMIC_RELEASE);
}

static void before_fork() { lock(); }
static void after_fork_parent() { unlock(); }

// The child starts with what the forking thread had in its caches, and counts anew.
static void after_fork_child() {
    unlock();
    for (unsigned level = 0; level < model.levels; level++)
        if (model.geometry[level].shared)
            for (unsigned i = 0; i < lock_groups; i++)
                model.locks[level][i * lock_stride] = 0;
    trace_work_after_fork();
    unseen_after_fork();
    auto *mine = reinterpret_cast<Recorder *>(tc_recorder_here);
    stream_after_fork(mine);
    for (Recorder *r = model.recorders; r; r = r->next) {
        if (r != mine) {
            r->stream = nullptr;
            r->busy = 0;
            r->held = nullptr;
            r->serving = 0;
            for (Waiting &waiting : r->waiting)
                waiting.count = 0;
            drain(*r);
            r->in_use = 0;
        }
        each_way(*r, [&](tc_way &way) { settle(*r, way); });
        flush(*r);
        madvise(r->traffic, (size_t(max_owner) + 1) * sizeof(Traffic), MADV_DONTNEED);
    }
}

// The levels behind the first are faster with vectors.
static void choose_vectors() {
    __builtin_cpu_init(); // constructors may not have run yet
    model.vectors = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("bmi");
    bool wide = model.vectors && __builtin_cpu_supports("avx512vl") &&
                __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512dq");
    model.serve = wide ? serve_levels_avx512 : model.vectors ? serve_levels_avx2 : serve_levels;
}

bool trace_start(const Config &config, const char **why) {
    if (config.cache_levels == 0 || config.cache_levels > max_cache_levels) {
        *why = "sampler trace needs 1 to 4 cache lines";
        return false;
    }
    for (unsigned level = 0; level < config.cache_levels; level++) {
        const CacheLevel &from = config.caches[level];
        CacheGeometry &to = model.geometry[level];
        to.bytes = from.bytes;
        to.ways = from.ways;
        to.line_bytes = from.line;
        to.shared = from.shared;
        if (from.line != 1u << TC_LINE_SHIFT || !to.valid()) {
            *why = "cache lines have to be 64 bytes, and a cache a multiple of its ways' lines";
            return false;
        }
        if (level == 0 && !SetIndex::exact(to.sets())) {
            *why = "a first cache level of more than 2^23 sets needs a power of two of them";
            return false;
        }
        if (level == 0 ? from.shared : to.shared < model.geometry[level - 1].shared) {
            *why = "the first cache level has to be private, and none behind a shared one";
            return false;
        }
        if (!to.shared)
            continue;
        void *memory = map_huge(Cache::words(to) * sizeof(uint64_t));
        void *locks = map(lock_groups * lock_stride);
        if (!memory || !locks) {
            *why = "no memory for the cache model";
            return false;
        }
        model.shared[level].init(to, static_cast<uint64_t *>(memory));
        model.locks[level] = static_cast<unsigned char *>(locks);
    }
    if (pthread_key_create(&thread_end, end_of_thread) != 0 ||
        pthread_atfork(before_fork, after_fork_parent, after_fork_child) != 0) {
        *why = "the system has no thread-specific key left";
        return false;
    }
    model.first = SetIndex(model.geometry[0].sets());
    model.set_blocks = (model.geometry[0].ways + TC_BLOCK_WAYS - 1) / TC_BLOCK_WAYS;
    model.by_tier = config.heap == HeapMode::guided && tier_traffic_start(config);
    // A page's tier is asked soon, before the page can go.
    model.batch = model.by_tier ? queue_length / 8 : queue_length;
    owners_find_globals();
    unseen_start();
    choose_vectors();
    if (config.stream && !stream_start(config, why))
        return false;
    model.levels = config.cache_levels;
    return true;
}

void trace_end() { stream_end(); }

void trace_complete() {
    if (tc_recorder_here)
        flush(*reinterpret_cast<Recorder *>(tc_recorder_here));
}

static void add_to(Traffic &sum, const Traffic &one) {
    sum.loads += __atomic_load_n(&one.loads, __ATOMIC_RELAXED);
    sum.stores += __atomic_load_n(&one.stores, __ATOMIC_RELAXED);
    sum.read_bytes += __atomic_load_n(&one.read_bytes, __ATOMIC_RELAXED);
    sum.write_bytes += __atomic_load_n(&one.write_bytes, __ATOMIC_RELAXED);
}

// Adds up what each owner has, in `owners[0..count)`.
static void sum_up(Traffic *owners, uint32_t count) {
    if (count > max_owner + 1)
        count = max_owner + 1;
    trace_complete();
    for (Recorder *r = __atomic_load_n(&model.recorders, __ATOMIC_ACQUIRE); r; r = r->next) {
        for (uint32_t owner = 0; owner < count; owner++)
            add_to(owners[owner], r->traffic[owner]);
        each_way(*r, [&](const tc_way &way) {
            CacheLine owned(__atomic_load_n(&way.owned, __ATOMIC_RELAXED));
            if (owned.owner() >= count)
                return;
            owners[owned.owner()].loads += __atomic_load_n(&way.loads, __ATOMIC_RELAXED);
            owners[owned.owner()].stores += __atomic_load_n(&way.stores, __ATOMIC_RELAXED);
        });
    }
}

void trace_snapshot(Traffic *sites, uint32_t count, Traffic nonheap[nonheap_kinds]) {
    static Traffic *sums; // by owner; virtual memory, used as far as there are sites
    static_assert(first_site_owner == nonheap_kinds);
    if (!sums)
        sums = static_cast<Traffic *>(map((size_t(max_owner) + 1) * sizeof(Traffic)));
    if (!sums)
        return;
    if (count > max_owner + 1 - first_site_owner)
        count = max_owner + 1 - first_site_owner;
    for (uint32_t i = 0; i < first_site_owner + count; i++)
        sums[i] = {};
    sum_up(sums, first_site_owner + count);
    for (unsigned kind = 0; kind < nonheap_kinds; kind++)
        nonheap[kind] = sums[kind];
    for (uint32_t site = 0; site < count; site++)
        sites[site] = sums[first_site_owner + site];
}

void trace_tier_snapshot(Traffic *tiers, unsigned count) {
    Traffic sums[first_site_owner + 64] = {};
    if (count > 64)
        count = 64;
    sum_up(sums, first_site_owner + count);
    for (unsigned tier = 0; tier < count; tier++)
        tiers[tier] = sums[first_site_owner + tier];
}

TwinWork twin_work() {
    TwinWork sum{__atomic_load_n(&work_of_others.done, __ATOMIC_RELAXED), 0, 0};
    for (Recorder *r = __atomic_load_n(&model.recorders, __ATOMIC_ACQUIRE); r; r = r->next) {
        sum.plain += __atomic_load_n(&r->twins.plain_work.done, __ATOMIC_RELAXED);
        sum.recorded += __atomic_load_n(&r->twins.recorded_work, __ATOMIC_RELAXED);
        sum.threads += __atomic_load_n(&r->in_use, __ATOMIC_RELAXED);
    }
    return sum;
}

void trace_record_after(uint64_t work) {
    for (Recorder *r = __atomic_load_n(&model.recorders, __ATOMIC_ACQUIRE); r; r = r->next) {
        uint64_t done = __atomic_load_n(&r->twins.plain_work.done, __ATOMIC_RELAXED);
        __atomic_store_n(&r->twins.plain_work.due, done + work, __ATOMIC_RELAXED);
    }
}

void trace_owner_changed(const void *p, uint64_t bytes) {
    auto *r = reinterpret_cast<Recorder *>(tc_recorder_here);
    if (!r || !bytes)
        return;
    uint64_t first = reinterpret_cast<uintptr_t>(p) >> TC_LINE_SHIFT;
    uint64_t last = (reinterpret_cast<uintptr_t>(p) + bytes - 1) >> TC_LINE_SHIFT;
    // Out of the filter: the next reference asks anew whose the line is.
    auto forget = [&](tc_way *&entry) {
        if (entry->line < first || entry->line > last)
            return;
        settle(*r, *entry);
        entry = &r->no_way;
    };
    if (last - first < TC_FILTER_ENTRIES)
        for (uint64_t line = first; line <= last; line++)
            forget(filter_entry(*r, line));
    else
        for (tc_way *&entry : r->twins.filter)
            forget(entry);
}

} // namespace tc

using namespace tc;

// As long as there is one thread, it locks nothing.
static void end_solitude(const Recorder &only) {
    if (model.several)
        return;
    __atomic_store_n(&model.several, true, __ATOMIC_SEQ_CST);
    // The batch that it may be at is short, unless a handler that runs on top of it waits
    // for us.
    for (unsigned turn = 0; turn < 10000 && __atomic_load_n(&only.serving, __ATOMIC_SEQ_CST);
         turn++)
        sched_yield();
}

tc_recorder *tc_recorder_make(void) {
    if (tc_recorder_here)
        return tc_recorder_here;
    lock();
    Recorder *r = model.recorders;
    while (r && __atomic_load_n(&r->in_use, __ATOMIC_ACQUIRE))
        r = r->next;
    if (!r) {
        r = make();
        r->in_use = 1;
        r->next = model.recorders;
        if (r->next)
            end_solitude(*r->next);
        __atomic_store_n(&model.recorders, r, __ATOMIC_RELEASE);
    }
    r->in_use = 1;
    unlock();
    owners_find_stack(*r);
    stream_join(*r);
    pthread_setspecific(thread_end, r);
    tc_recorder_here = &r->twins;
    tc_work_here = &r->twins.plain_work;
    return tc_recorder_here;
}

tc_recorder *tc_recorder_enter(void) {
    tc_recorder *r = tc_recorder_make();
    r->plain_work.due = UINT64_MAX;
    trace_tell_twins(TC_TWINS_RECORD);
    return r;
}
