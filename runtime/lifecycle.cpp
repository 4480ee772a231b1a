// The process's life: constructor, residency sampler, fork, exit.
#include "callpath/call_path.h"
#include "capacity.h"
#include "huge_alignment.h"
#include "own_thread.h"
#include "recording.h"
#include "report.h"
#include "runtime.h"
#include "sites.h"
#include "sites_mode.h"
#include <cstdlib>
#include <ctime>
#include <pthread.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace tc {
namespace {

void wait(uint64_t ns) {
    const timespec time{static_cast<time_t>(ns / 1000000000), static_cast<long>(ns % 1000000000)};
    clock_nanosleep(CLOCK_MONOTONIC, 0, &time, nullptr);
}

// Measures residency now and then: soon after the start, for short programs, then at the
// configured interval, and never so often that it takes more than a hundredth of one core.
void *sample(void *) {
    const uint64_t longest = uint64_t(state.config.interval_ms) * 1000000;
    uint64_t interval = longest < 1000000 ? longest : 1000000;
    for (;;) {
        const uint64_t before = nanoseconds();
        note_residency();
        const uint64_t cost = (nanoseconds() - before) * 100;
        wait(interval > cost ? interval : cost);
        interval = interval * 2 < longest ? interval * 2 : longest;
    }
    return nullptr;
}

void start_sampler() {
    if (state.config.heap != HeapMode::guided || !state.config.report || state.stepped_aside)
        return;
    start_own_thread(sample, nullptr, 256 << 10); // without it, peaks are seen at exit only
}

void before_fork() {
    lock_call_paths();
    lock_sites();
    lock_huge_alignment();
    alloc_before_fork();
}

void after_fork(bool child) {
    alloc_after_fork(child);
    unlock_huge_alignment();
    unlock_sites();
    unlock_call_paths();
}

void after_fork_in_parent() { after_fork(false); }

void after_fork_in_child() {
    after_fork(true);
    state.pid = getpid();
    state.started = nanoseconds();
    restart_report();
    // No sampler here: most children exec or end at once.  Capacity does not need it.
}

} // namespace

// Called by start, before the program can register handlers of its own: theirs may allocate,
// and must run before ours in the parent and after ours in the child.
void handle_forks() { pthread_atfork(before_fork, after_fork_in_parent, after_fork_in_child); }

namespace {

// For ends that skip the destructors.  A vfork child shares our memory and is another process:
// it writes nothing.
void finish() {
    if (state.pid != getpid())
        return;
    write_report();
    finish_profile();
    trace_end();
}

__attribute__((constructor(101))) void begin() {
    start();
    start_sampler();
    // The program's own handlers, which come later, run before it.
    at_quick_exit(finish);
}

__attribute__((destructor(101))) void end() {
    write_report();
    trace_end();
}

[[noreturn]] void leave(int status) {
    finish();
    for (;;)
        syscall(SYS_exit_group, status);
}

} // namespace
} // namespace tc

extern "C" {
void _exit(int status) { tc::leave(status); }
void _Exit(int status) { tc::leave(status); }

// Our ranges and tables are much larger than what is used of them: pages are locked when they
// are touched, not filled beforehand.
int mlockall(int flags) {
    const bool ours = tc::start() && tc::state.config.heap != tc::HeapMode::plain;
    return static_cast<int>(syscall(SYS_mlockall, ours ? flags | MCL_ONFAULT : flags));
}
}
