// What a program may do with its process while it runs guided or profiled.  Cases named
// "program_*" are programs for others to run; the harness runs them once plainly too.
#include "annotated.h"
#include "check.h"
#include <csignal>
#include <fcntl.h>
#include <pthread.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <thread>

namespace {

#define TIERS "tier 0 nodes - capacity 0\ntier 1 nodes - capacity 0\ndefault-tier 1\n"
constexpr char guided[] = "heap guided\nreport %DIR%/out\ninterval-ms 1\n" TIERS;
constexpr char bound[] = "heap guided\nreport %DIR%/out\ninterval-ms 1\n"
                         "tier 0 nodes 0 capacity 0\ndefault-tier 0\n";
constexpr char guides_unannotated[] = "heap guided\n" TIERS "site 0 life_test!unannotated\n";
constexpr char profiled[] = "heap sites\nprofile %DIR%/out\ninterval-ms 10\n"
                            "cache 1 bytes 32768 ways 8 line 64 shared\n";

// Runs a case as a program and returns what it left in files whose names end so.
std::string outcome(const char *config, const char *name, const char *ending) {
    const std::string directory = check::make_directory(), all = directory + "/all";
    expect_eq(check::run_self(directory, config, {"--case", name}), 0);
    const std::string command = "cat " + directory + "/*" + ending + " > " + all + " 2>/dev/null";
    const std::string text = system(command.c_str()) == 0 ? check::read_file(all) : "";
    expect_eq(system(("rm -rf " + directory).c_str()), 0);
    return text;
}

void allocate_in_prepare() { free(malloc(100)); }

// Before any library's constructor, as a library's that ours does not depend on could be; its
// first malloc starts us.
void register_early(int, char **, char **) {
    allocate_in_prepare();
    pthread_atfork(allocate_in_prepare, nullptr, nullptr);
}
__attribute__((section(".preinit_array"), used)) void (*const early)(int, char **,
                                                                     char **) = register_early;

void fork_from_a_new_thread() {
    alarm(10); // ends the case if fork hangs
    std::thread([] {
        const pid_t child = fork();
        if (child == 0)
            _exit(0);
        int status = 1;
        waitpid(child, &status, 0);
        expect_eq(status, 0);
    }).join();
}

} // namespace

TEST(program_main_thread_leaves) {
    alarm(10); // ends the case if our thread keeps the process alive
    std::thread([] { usleep(50000); }).detach();
    pthread_exit(nullptr);
}

TEST(process_ends_with_its_last_thread) {
    const std::string report = outcome(guided, "program_main_thread_leaves", ".json");
    expect_str(report.substr(0, 1), "{");
    const std::string profile = outcome(profiled, "program_main_thread_leaves", ".profile");
    expect_true(profile.find("\"complete\": true") != std::string::npos);
}

TEST(program_leaves_quickly) {
    at_quick_exit([] { free(malloc(100)); });
    quick_exit(0);
}

TEST(a_quick_exit_reports) {
    const std::string report = outcome(guided, "program_leaves_quickly", ".json");
    expect_str(report.substr(0, 1), "{");
    const std::string profile = outcome(profiled, "program_leaves_quickly", ".profile");
    expect_true(profile.find("\"complete\": true") != std::string::npos);
}

TEST_WITH_CONFIG(descriptor_numbers_are_the_programs, bound) {
    const int first = open("/dev/null", O_RDONLY);
    close(first);
    int others = 0;
    for (int i = 0; i < 400000; i++) {
        const int fd = open("/dev/null", O_RDONLY);
        others += fd != first;
        close(fd);
    }
    expect_eq(others, 0);
}

TEST(program_leaves_on_a_small_stack) {
    // A signal handler's stack of the usual size, with nothing writable below it.
    const size_t page = 4096, bytes = 12 * 1024;
    char *stack = static_cast<char *>(
        mmap(nullptr, bytes + page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
    expect_eq(mprotect(stack, page, PROT_NONE), 0);
    const stack_t alternate{stack + page, 0, bytes};
    expect_eq(sigaltstack(&alternate, nullptr), 0);
    struct sigaction action{};
    action.sa_handler = [](int) { _exit(0); };
    action.sa_flags = SA_ONSTACK;
    sigaction(SIGUSR1, &action, nullptr);
    raise(SIGUSR1);
}

TEST(small_stacks_suffice) {
    const std::string report = outcome(bound, "program_leaves_on_a_small_stack", ".json");
    expect_str(report.substr(0, 1), "{");
    const std::string profile = outcome(profiled, "program_leaves_on_a_small_stack", ".profile");
    expect_true(profile.find("\"complete\": true") != std::string::npos);
}

TEST_WITH_CONFIG(handlers_of_fork_may_allocate_guided, guides_unannotated) {
    fork_from_a_new_thread();
}
TEST_WITH_CONFIG(handlers_of_fork_may_allocate_profiled, profiled) { fork_from_a_new_thread(); }

TEST_WITH_CONFIG(locked_memory_is_cleared, profiled) {
    const size_t bytes = 4 << 20;
    for (int i = 0; i < 4; i++) {
        char *block = static_cast<char *>(calloc(1, bytes));
        size_t dirty = 0;
        for (size_t at = 0; at < bytes; at++)
            dirty += block[at] != 0;
        expect_eq(dirty, size_t(0));
        memset(block, 1, bytes);
        expect_eq(mlock(block, bytes), 0);
        free(block); // still locked: the kernel will not take the pages back
    }
}

TEST(program_locks_everything) {
    if (!getenv("THERMOCLINE_CONFIG") || mlockall(MCL_CURRENT | MCL_FUTURE) != 0)
        return;
    const std::string status = check::read_file("/proc/self/status");
    const size_t at = status.find("VmRSS:");
    expect_lt(atol(status.c_str() + at + 6), 128 << 10L);
}

TEST(all_memory_can_be_locked) {
    outcome(profiled, "program_locks_everything", ".profile");
    outcome(guided, "program_locks_everything", ".json");
}

TEST(program_fills_its_address_space) {
    const size_t bytes = size_t(400) << 20;
    void *p = malloc(bytes);
    expect_true(p != nullptr);
    p = realloc(p, bytes / 2);
    expect_true(p != nullptr);
    free(p);
    std::vector<void *> blocks;
    for (int i = 0; i < 40000; i++)
        blocks.push_back(malloc(10000));
    for (void *block : blocks) {
        expect_true(block != nullptr);
        free(block);
    }
    p = aligned_alloc(size_t(64) << 20, 50 << 20);
    expect_true(p != nullptr);
    free(p);
}

TEST(little_address_space_is_no_reason_to_fail) {
    const struct rlimit two_gib{size_t(2) << 30, size_t(2) << 30};
    expect_eq(setrlimit(RLIMIT_AS, &two_gib), 0);
    outcome(nullptr, "program_fills_its_address_space", "");
    outcome(guided, "program_fills_its_address_space", ".json");
}

// A file of another group's with the set-group-ID bit: its environment is not to be trusted.  (Not
// another user's: who builds in a home of mode 700 would deny that user the library.)
TEST(privileged_programs_ignore_the_environment) {
    if (geteuid() != 0)
        return;
    const std::string directory = check::make_directory(), program = directory + "/program";
    expect_eq(
        system(("cp /proc/" + std::to_string(getpid()) + "/exe " + program + " && chgrp 65534 " +
                program + " && chmod 2755 " + program + " && chmod 777 " + directory)
                   .c_str()),
        0);
    check::write_file(directory + "/config", "not a configuration\n");
    const pid_t child = fork();
    if (child == 0) {
        setenv("THERMOCLINE_CONFIG", (directory + "/config").c_str(), 1);
        if (!freopen((directory + "/stderr").c_str(), "w", stderr))
            _exit(3);
        execl(program.c_str(), "program", "--case", "program_main_thread_leaves", nullptr);
        _exit(3);
    }
    int status = 1;
    waitpid(child, &status, 0);
    expect_eq(status, 0);
    expect_str(check::read_file(directory + "/stderr"), "");
    expect_eq(system(("rm -rf " + directory).c_str()), 0);
}
