// See watch.h.
#include "watch.h"
#include "lock.h"
#include "own_memory.h"
#include "profile.h"
#include "residency.h"
#include "runtime.h"
#include "site_heap.h"
#include "site_heap_thread.h"
#include "trace/traffic.h"
#include <cerrno>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

namespace tc {
[[gnu::weak]] void trace_owner_changed(const void *, uint64_t);
}

namespace {

constexpr uint64_t millisecond = 1000000;
constexpr size_t stack_bytes = 256 << 10;
// What samples and profiles may cost: each is followed by this many times its own processor time
// without another.
constexpr uint64_t rest_factor = 99;

bool wanted, constructed, thread_runs;
uint64_t started, interval;
void *stack; // of our own memory: no part of the program's resident set

tc::Lock watching; // one sample or profile at a time
bool finished;     // under `watching`

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
}

// Descriptors of this thread must not take numbers that the program expects to get, nor keep the
// program's pipes open.
void leave_descriptors() {
    if (unshare(CLONE_FILES) == 0)
        syscall(SYS_close_range, 0u, ~0u, 0u);
}

void *watch(void *) {
    leave_descriptors();
    uint64_t wait = 5 * millisecond, next_profile = 50 * millisecond, between = 50 * millisecond;
    for (;;) {
        timespec pause = {time_t(wait / 1000000000), long(wait % 1000000000)};
        nanosleep(&pause, nullptr);
        tc::Guard guard(watching);
        if (finished)
            return nullptr;
        uint64_t before = processor_time();
        sample();
        uint64_t cost = processor_time() - before;
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
    pthread_attr_t attributes;
    if (pthread_attr_init(&attributes))
        return;
    if (stack)
        pthread_attr_setstack(&attributes, stack, stack_bytes);
    pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
    // The program's signals are for the program's threads.
    sigset_t all, old;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &old);
    pthread_t thread;
    thread_runs = pthread_create(&thread, &attributes, watch, nullptr) == 0;
    if (thread_runs)
        pthread_setname_np(thread, "thermocline");
    pthread_sigmask(SIG_SETMASK, &old, nullptr);
    pthread_attr_destroy(&attributes);
}

void after_fork_in_child() {
    watching.release(); // the thread that held it is not in the child
    started = tc::nanoseconds();
    finished = false;
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

// After the program's own destructors and exit handlers.  A program that leaves by _exit keeps its
// last unfinished profile.
[[gnu::destructor]] void library_ends() {
    if (!wanted)
        return;
    int saved_errno = errno;
    tc::Guard guard(watching);
    finished = true;
    sample();
    profile_write(elapsed(), true);
    errno = saved_errno;
}

} // namespace

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

bool site_heap_start(const tc::Config &config) {
    return site_heap_reserve() && (!config.profile || watch_start(config));
}
