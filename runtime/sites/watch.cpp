// See watch.h.
#include "watch.h"
#include "lock.h"
#include "online/online.h"
#include "own_memory.h"
#include "own_thread.h"
#include "profile.h"
#include "residency.h"
#include "runtime.h"
#include "site_heap.h"
#include "site_heap_thread.h"
#include "site_stats.h"
#include "trace/traffic.h"
#include <cerrno>
#include <fcntl.h>
#include <linux/futex.h>
#include <pthread.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

namespace tc {
[[gnu::weak]] void trace_owner_changed(const void *, uint64_t);
[[gnu::weak]] void stream_pages_returned(const void *, uint64_t);
[[gnu::weak]] void trace_complete();
} // namespace tc

namespace {

constexpr uint64_t millisecond = 1000000;
constexpr uint64_t tick = 2 * millisecond; // how exact the times of small blocks are
constexpr size_t stack_bytes = 256 << 10;
// What samples and profiles may cost: each is followed by this many times its own processor time
// without another.
constexpr uint64_t rest_factor = 99;

bool wanted, constructed, thread_runs;
uint64_t started, interval;
void *stack; // of our own memory: no part of the program's resident set

tc::Lock watching; // one sample or profile at a time
bool finished;     // under `watching`

// _exit asks the watching thread for the last profile, and waits for it.
pid_t watcher; // the process that the thread is in
int leaving, left;
bool ending; // by exit: no need to ask

uint64_t elapsed() { return tc::nanoseconds() - started; }

uint64_t processor_time() {
    timespec used;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &used);
    return uint64_t(used.tv_sec) * 1000000000 + uint64_t(used.tv_nsec);
}

void sample() {
    int pagemap = open("/proc/self/pagemap", O_RDONLY | O_CLOEXEC);
    residency_sample(pagemap);
    if (pagemap >= 0)
        close(pagemap);
    profile_note_series(elapsed());
    tc::online_tick();
}

void finish() { // under `watching`
    finished = true;
    sample();
    profile_write(elapsed(), true);
}

// Words that a thread can sleep on.
void set(int &word) {
    __atomic_store_n(&word, 1, __ATOMIC_RELEASE);
    syscall(SYS_futex, &word, FUTEX_WAKE_PRIVATE, 1);
}
void sleep_until_set(int &word, uint64_t nanoseconds) {
    const timespec most = {time_t(nanoseconds / 1000000000), long(nanoseconds % 1000000000)};
    syscall(SYS_futex, &word, FUTEX_WAIT_PRIVATE, 0, &most);
}

// Sets the small blocks' clock meanwhile.
void sleep_ticking(uint64_t nanoseconds) {
    const uint64_t from = elapsed();
    for (;;) {
        block_clock_tick();
        const uint64_t slept = elapsed() - from;
        if (slept >= nanoseconds || __atomic_load_n(&leaving, __ATOMIC_ACQUIRE))
            return;
        sleep_until_set(leaving, nanoseconds - slept < tick ? nanoseconds - slept : tick);
    }
}

void *watch(void *) {
    uint64_t wait = 5 * millisecond, next_profile = 50 * millisecond, between = 50 * millisecond;
    for (;;) {
        sleep_ticking(wait);
        tc::Guard guard(watching);
        if (!finished && __atomic_load_n(&leaving, __ATOMIC_ACQUIRE))
            finish();
        if (finished) {
            set(left);
            for (;;) // start_own_thread's must not end
                pause();
        }
        uint64_t before = processor_time();
        sample();
        uint64_t cost = processor_time() - before;
        block_clock_tick();
        if (elapsed() >= next_profile) {
            profile_write(elapsed(), false);
            uint64_t write_cost = processor_time() - before - cost;
            between = between * 2 < 1000 * millisecond ? between * 2 : 1000 * millisecond;
            uint64_t least = rest_factor * write_cost;
            next_profile = elapsed() + (between > least ? between : least);
        }
        // Short at first, when programs touch their data.
        wait = elapsed() / 2 < interval ? elapsed() / 2 : interval;
        if (wait < rest_factor * cost)
            wait = rest_factor * cost;
    }
}

void start_thread() {
    thread_runs = tc::start_own_thread(watch, stack, stack ? stack_bytes : 0);
    watcher = getpid();
}

void after_fork_in_child() {
    watching.release(); // the thread that held it is not in the child
    started = tc::nanoseconds();
    finished = ending = false;
    leaving = left = 0;
    residency_restart_in_child();
    profile_restart_in_child();
}

void resume_in_child() {
    if (thread_runs)
        start_thread();
}

// Before the constructors of the program and of what it links, but after those of libc.
[[gnu::constructor]] void library_constructed() {
    constructed = true;
    if (wanted && !thread_runs)
        start_thread();
}

// After the program's own destructors and exit handlers.
[[gnu::destructor]] void library_ends() {
    if (!wanted)
        return;
    int saved_errno = errno;
    __atomic_store_n(&ending, true, __ATOMIC_RELEASE);
    tc::Guard guard(watching);
    if (!finished)
        finish();
    errno = saved_errno;
}

} // namespace

void watch_leave() {
    constexpr uint64_t patience = 10000 * millisecond;
    if (!wanted || !thread_runs || watcher != getpid() ||
        __atomic_load_n(&ending, __ATOMIC_ACQUIRE))
        return;
    if (tc::trace_complete)
        tc::trace_complete();
    set(leaving);
    const uint64_t from = elapsed();
    while (!__atomic_load_n(&left, __ATOMIC_ACQUIRE) && elapsed() - from < patience)
        sleep_until_set(left, patience);
}

bool watch_start(const tc::Config &config) {
    if (!residency_start() || !profile_start(config))
        return false;
    if (config.trace && tc::trace_owner_changed)
        owner_changed = tc::trace_owner_changed;
    stack = own_memory_map(stack_bytes);
    interval = uint64_t(config.interval_ms ? config.interval_ms : 100) * millisecond;
    started = tc::nanoseconds();
    first_use_in_child = resume_in_child;
    pthread_atfork(nullptr, nullptr, after_fork_in_child);
    wanted = true;
    if (constructed)
        start_thread();
    return true;
}

const char no_address_space[] =
    "there is no address space left for the profiling heap (see ulimit -v)";

const char *site_heap_start(const tc::Config &config) {
    if (config.stream && tc::stream_pages_returned)
        pages_returned = tc::stream_pages_returned;
    if (!site_heap_reserve())
        return no_address_space;
    if (const char *fault = tc::online_start(config))
        return fault;
    if (!config.profile)
        block_clock_tick(); // nobody will ask for times
    return !config.profile || watch_start(config) ? nullptr : no_address_space;
}
