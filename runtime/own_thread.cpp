// See own_thread.h.
#include "own_thread.h"
#include <csignal>
#include <cstdlib>
#include <ctime>
#include <dlfcn.h>
#include <pthread.h>
#include <sched.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace tc {
namespace {

int running; // threads of ours, in the process `process`
pid_t process;

void leave_descriptors() {
    if (unshare(CLONE_FILES) == 0)
        syscall(SYS_close_range, 0u, ~0u, 0u);
}

void *run(void *routine) {
    leave_descriptors();
    return reinterpret_cast<void *(*)(void *)>(routine)(nullptr);
}

bool start_detached(void *(*routine)(void *), void *argument, void *stack, size_t stack_bytes) {
    pthread_attr_t attributes;
    if (pthread_attr_init(&attributes) != 0)
        return false;
    if (stack)
        pthread_attr_setstack(&attributes, stack, stack_bytes);
    else if (stack_bytes)
        pthread_attr_setstacksize(&attributes, stack_bytes);
    pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
    sigset_t all, old; // the program's signals are for the program's threads
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &old);
    pthread_t id;
    const bool created = pthread_create(&id, &attributes, routine, argument) == 0;
    if (created)
        pthread_setname_np(id, "thermocline");
    pthread_sigmask(SIG_SETMASK, &old, nullptr);
    pthread_attr_destroy(&attributes);
    return created;
}

// libc ends a process whose main thread has left when its last thread ends.  Ours never do,
// so that this one, which has the program's descriptors, looks when all others are gone.
void *end_with_the_others(void *) {
    const timespec pause{0, 2000000};
    struct stat tasks; // one link per thread, and two; the main thread's remains
    while (stat("/proc/self/task", &tasks) == 0) {
        if (tasks.st_nlink - 2 <= nlink_t(1 + running + 1))
            exit(0);
        clock_nanosleep(CLOCK_MONOTONIC, 0, &pause, nullptr);
    }
    return nullptr;
}

} // namespace

bool start_own_thread(void *(*routine)(void *), void *stack, size_t stack_bytes) {
    void *const argument = reinterpret_cast<void *>(routine);
    // The given stack may be too small for the program's thread-local data.
    if (!start_detached(run, argument, stack, stack_bytes) &&
        !start_detached(run, argument, nullptr, 0))
        return false;
    running = process == getpid() ? running + 1 : 1;
    process = getpid();
    return true;
}

} // namespace tc

extern "C" void pthread_exit(void *value) {
    using Routine = void (*)(void *);
    const auto real = reinterpret_cast<Routine>(dlsym(RTLD_NEXT, "pthread_exit"));
    if (tc::running && gettid() == tc::process)
        tc::start_detached(tc::end_with_the_others, nullptr, nullptr, 0);
    real(value);
    __builtin_unreachable();
}
