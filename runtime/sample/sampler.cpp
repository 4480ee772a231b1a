// Hardware sampling of memory accesses as a method of profiling (docs/method-sample.md; Olson et
// al. 2018, IV.C).
//
// A thread of our own reads the kernel's rings.  It opens the events itself, for the program's
// threads and not for its own, in its own table of descriptors.
#include "sampler.h"
#include "counts.h"
#include "lock.h"
#include "own_memory.h"
#include "own_thread.h"
#include "rings.h"
#include "runtime.h"
#include "text.h"
#include <cerrno>
#include <ctime>
#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace tc {

extern const Sampler sample_sampler;

namespace sample {
namespace {

constexpr uint64_t second = 1000000000;
constexpr int longest_sleep_ms = 1000;

Event events[max_events];
unsigned event_count;
double wanted_overhead; // 0: none was named
bool wanted, constructed;
bool forked; // a child that does not sample yet
int ready;   // the thread has opened its events, or given up
bool running, opened;
uint32_t watcher;   // the watching thread's number, whose samples are not the program's
uint64_t reader_ns; // the thread's processor time
Lock draining;

void sleep_until_ready(uint64_t nanoseconds) {
    const timespec most = {time_t(nanoseconds / second), long(nanoseconds % second)};
    syscall(SYS_futex, &ready, FUTEX_WAIT_PRIVATE, 0, &most);
}

void drain() {
    Guard guard(draining);
    drain_rings(watcher);
}

void *read_rings(void *) {
    opened = open_rings(events, event_count);
    __atomic_store_n(&ready, 1, __ATOMIC_RELEASE);
    syscall(SYS_futex, &ready, FUTEX_WAKE_PRIVATE, 1);
    for (;;) {
        if (!opened) // start_own_thread's must not end
            pause();
        wait_for_rings(longest_sleep_ms);
        drain();
        timespec used;
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &used);
        __atomic_store_n(&reader_ns, uint64_t(used.tv_sec) * second + uint64_t(used.tv_nsec),
                         __ATOMIC_RELAXED);
    }
}

void start_thread() {
    ready = 0;
    running = start_own_thread(read_rings, nullptr, 256 << 10);
}

// What the program does from now on counts.
void start_thread_and_wait() {
    constexpr uint64_t patience = 2 * second;
    start_thread();
    const uint64_t from = nanoseconds();
    while (running && !__atomic_load_n(&ready, __ATOMIC_ACQUIRE) && nanoseconds() - from < patience)
        sleep_until_ready(patience);
}

// Before the program's own constructors.
[[gnu::constructor]] void library_constructed() {
    constructed = true;
    if (wanted && !running)
        start_thread_and_wait();
}

const char *refusal(int error) {
    switch (error) {
    case EACCES:
    case EPERM:
        return "the kernel does not permit this event: lower kernel.perf_event_paranoid, or give "
               "CAP_PERFMON";
    case EOPNOTSUPP:
    case ENOENT:
    case ENODEV:
        return "this processor or virtual machine cannot sample that event";
    default:
        return "the kernel refuses this event";
    }
}

bool start(const Config &config, const char **why) {
    if (config.heap != HeapMode::sites) {
        *why = "sampler sample needs heap sites";
        return false;
    }
    if ((*why = read_events(config, events, event_count)))
        return false;
    if (const char *overhead = config.option("overhead-ppm")) {
        for (uint64_t ppm = 0; *overhead >= '0' && *overhead <= '9'; overhead++)
            wanted_overhead = double(ppm = ppm * 10 + uint64_t(*overhead - '0')) / 1e6;
        if (*overhead) {
            *why = "overhead-ppm is a number";
            return false;
        }
    }
    if (const int error = try_event(events[0])) {
        *why = refusal(error);
        return false;
    }
    if (!counts_start(config.cache_levels ? config.caches[0].line : 64)) {
        *why = "there is no memory for the samples' tables";
        return false;
    }
    wanted = true;
    if (constructed)
        start_thread_and_wait();
    return true;
}

void snapshot(Traffic *sites, uint32_t count, Traffic *outside) {
    Guard guard(draining);
    drain_rings(watcher);
    counts_snapshot(sites, count, outside);
}

// The watching thread's: the child of a fork starts to sample here, since most children exec or end
// before they have any.
void tick(uint64_t) {
    if (!watcher && on_own_stack())
        watcher = uint32_t(gettid());
    if (forked && watcher) {
        forked = false;
        start_thread();
    }
}

void put(JsonFile &json) {
    static const char *const meanings[] = {"events that are neither loads nor stores",
                                           "loads that memory served",
                                           "loads and stores, and who served them"};
    const Totals &totals = ring_totals();
    json.open('[', "events");
    for (unsigned i = 0; i < event_count; i++) {
        json.open('{');
        json.string("name", events[i].name);
        json.string("counts", meanings[events[i].counts]);
        if (events[i].frequency)
            json.number("samples_per_second", events[i].frequency);
        else
            json.number("period", events[i].period);
        json.close('}');
    }
    json.close(']');
    if (wanted_overhead > 0)
        json.seconds("wanted_overhead", uint64_t(wanted_overhead * 1e9));
    json.number("samples", totals.samples);
    json.number("lost", totals.lost);
    json.number("throttled", totals.throttled);
    json.number("damaged", totals.damaged);
    json.number("truncated", totals.truncated);
    json.number("without_address", counts_strays().without_address);
    json.number("of_others", counts_strays().of_others);
    json.number("rings", totals.rings);
    json.number("processors", totals.processors);
    json.seconds("reader_seconds", __atomic_load_n(&reader_ns, __ATOMIC_RELAXED));
}

void put_site(JsonFile &json, uint32_t site) { put_counts(json, counts_of_site(site)); }

void put_outside(JsonFile &json, unsigned kind) { put_counts(json, counts_outside(NonHeap(kind))); }

void restart_in_child() {
    draining.release(); // whoever held it is not in the child
    forget_rings();
    running = false;
    forked = wanted;
    watcher = 0;
}

} // namespace
} // namespace sample

const Sampler sample_sampler = {
    .name = "sample",
    .start = sample::start,
    .snapshot = sample::snapshot,
    .tick = sample::tick,
    .unseen_share = nullptr,
    .put = sample::put,
    .put_site = sample::put_site,
    .put_outside = sample::put_outside,
    .restart_in_child = sample::restart_in_child,
};

} // namespace tc
