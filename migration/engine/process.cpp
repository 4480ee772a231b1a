// The process's life: the engine begins before main, follows forks, reports at the end.
#include "engine.h"
#include "own_memory.h"
#include "own_thread.h"
#include "text.h"
#include <cstdlib>
#include <dlfcn.h>
#include <new>
#include <pthread.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace tc {
namespace {

// In memory of their own: what this library keeps in its data may be watched (see mappings.cpp).
struct Process {
    MigrateSettings settings;
    Engine engine{settings};
    pid_t pid = 0;
};
Process *process; // null: not at work

bool here() { return process && process->pid == getpid(); }

void before_fork() {
    if (here())
        process->engine.before_fork();
}
void after_fork_in_parent() {
    if (here())
        process->engine.after_fork_in_parent();
}
// What the parent had aside is coming; then this process is on its own.
void after_fork_in_child() {
    if (!process)
        return;
    *reinterpret_cast<volatile char *>(process->engine.gate);
    process = nullptr;
}

void finish() {
    if (here())
        process->engine.write_report();
}

void pin_this_thread() {
    const auto self = uint64_t(pthread_self());
    constexpr uint64_t descriptor_bytes = 2304; // glibc's struct pthread, at a stack's very end
    process->engine.pin(self, self + descriptor_bytes);
}

void *run_engine(void *) {
    process->engine.run();
    return nullptr;
}

__attribute__((constructor(101))) void begin() {
    const char *const text = getenv("THERMOCLINE_MIGRATE");
    if (!text)
        return;
    void *const memory = own_memory_map(sizeof(Process));
    constexpr size_t stack_bytes = 512 << 10;
    void *const stack = own_memory_map(stack_bytes);
    if (!memory || !stack)
        return complain("migration is off: no address space (ulimit -v)");
    auto *const made = new (memory) Process;
    char error[200];
    if (!parse_settings(text, made->settings, error, sizeof error)) {
        complain(error);
        _exit(2);
    }
    if (!made->engine.prepare())
        return complain("migration is off: no address space (ulimit -v)");
    made->pid = getpid();
    pthread_atfork(before_fork, after_fork_in_parent, after_fork_in_child);
    process = made;
    if (!start_own_thread(run_engine, stack, stack_bytes)) {
        process = nullptr;
        return complain("migration is off: no thread (ulimit -u)");
    }
    if (made->settings.near_node >= 0) // first touches are near, as long as there is room
        syscall(SYS_set_mempolicy, 1 /* MPOL_PREFERRED */, made->settings.near_nodes,
                MigrateSettings::max_nodes + 1);
    pin_this_thread();
    at_quick_exit(finish);
}

__attribute__((destructor(101))) void end() { finish(); }

[[noreturn]] void leave(int status) {
    finish();
    for (;;)
        syscall(SYS_exit_group, status);
}

struct Start {
    void *(*routine)(void *);
    void *argument;
};

void *start_pinned(void *given) {
    const Start start = *static_cast<Start *>(given);
    free(given);
    if (here())
        pin_this_thread();
    return start.routine(start.argument);
}

} // namespace
} // namespace tc

extern "C" {

void _exit(int status) { tc::leave(status); }
void _Exit(int status) { tc::leave(status); }

// The shadow is much larger than what is in it: pages are locked when they are touched.
int mlockall(int flags) {
    return int(syscall(SYS_mlockall, tc::here() ? flags | MCL_ONFAULT : flags));
}

// A thread's descriptor must stay near: the kernel writes to it when the thread is gone.
int pthread_create(pthread_t *id, const pthread_attr_t *attributes, void *(*routine)(void *),
                   void *argument) {
    using Create = int (*)(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *);
    static const auto real = reinterpret_cast<Create>(dlsym(RTLD_NEXT, "pthread_create"));
    auto *const start = tc::here() ? static_cast<tc::Start *>(malloc(sizeof(tc::Start))) : nullptr;
    if (!start)
        return real(id, attributes, routine, argument);
    *start = {routine, argument};
    const int failed = real(id, attributes, tc::start_pinned, start);
    if (failed)
        free(start);
    return failed;
}

// No C++ library here: of a virtual function that nobody defined.
void __cxa_pure_virtual() { __builtin_trap(); }
}
