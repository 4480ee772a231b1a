// The profile that a program under `heap sites` leaves: at its end, when killed, after fork.
#include "annotated.h"
#include "check.h"
#include <csignal>
#include <dirent.h>
#include <pthread.h>
#include <unistd.h>

// Every case here is a program of its own, run by the harness's run_self with a configuration.
#define PROFILED                                                                                   \
    "heap sites\nsampler none\nprofile %DIR%/out\ninterval-ms 10\n"                                \
    "cache 1 bytes 32768 ways 8 line 64 shared\n"

namespace {

constexpr size_t mib = 1 << 20;
// Filled through a pointer that the compiler cannot see through.
void *(*volatile fill)(void *, int, size_t) = memset;

std::string profile_of(const std::string &directory, pid_t pid) {
    return check::read_file(directory + "/out." + std::to_string(pid) + ".profile");
}

// The part of a profile that is about one key.
std::string site(const std::string &profile, const std::string &key) {
    size_t at = profile.find("\"key\": \"" + key + "\"");
    if (at == std::string::npos)
        return "";
    return profile.substr(at, profile.find("\"key\": ", at + 1) - at);
}

// The only profile in a directory; "" if there is none or more.
std::string only_profile(const std::string &directory) {
    std::string found;
    int count = 0;
    if (DIR *entries = opendir(directory.c_str())) {
        while (dirent *entry = readdir(entries))
            if (std::string(entry->d_name).ends_with(".profile")) {
                found = check::read_file(directory + "/" + entry->d_name);
                ++count;
            }
        closedir(entries);
    }
    expect_eq(count, 1);
    return found;
}

std::string run(const char *name) {
    std::string directory = check::make_directory();
    expect_eq(check::run_self(directory, PROFILED, {"--case", name}), 0);
    return directory;
}

// Run as programs: named "program_*", and nothing to see when the harness runs them by themselves.
TEST(program_plain) {
    AnnotatedModule module("prog",
                           {"prog!large@a.c:1:1", "prog!small@a.c:2:2", "prog!idle@a.c:3:3"});
    void *large = tc_malloc(8 * mib, module[0]);
    fill(large, 1, 8 * mib);
    for (int i = 0; i < 1000; ++i)
        free(tc_malloc(100, module[1]));
    usleep(300000); // thirty intervals: a loaded machine's sampler gets a turn too
    free(large);
    void *quoted = malloc(10);
    fill(quoted, 1, 10);
    free(quoted);
}

TEST(a_profile_at_the_end) {
    std::string profile = only_profile(run("program_plain"));
    expect_true(profile.find("\"complete\": true") != std::string::npos);
    expect_true(profile.find("\"format\": \"thermocline-profile\"") != std::string::npos);
    expect_true(profile.find("\"program_plain\"") != std::string::npos); // its command
    std::string large = site(profile, "prog!large@a.c:1:1");
    expect_eq(check::json_number(large, "allocations"), 1LL);
    expect_eq(check::json_number(large, "frees"), 1LL);
    expect_eq(check::json_number(large, "allocated_bytes"), (long long)(8 * mib));
    expect_eq(check::json_number(large, "peak_live_bytes"), (long long)(8 * mib));
    expect_eq(check::json_number(large, "peak_resident_bytes"), (long long)(8 * mib));
    expect_eq(check::json_number(large, "resident_at_peak_bytes"), (long long)(8 * mib));
    std::string small = site(profile, "prog!small@a.c:2:2");
    expect_eq(check::json_number(small, "allocations"), 1000LL);
    expect_eq(check::json_number(small, "allocated_bytes"), 100000LL);
    expect_eq(check::json_number(small, "peak_live_bytes"), 100LL);
    expect_str(site(profile, "prog!idle@a.c:3:3"), "");
    for (const char *outside : {"(stack)", "(globals)", "(other)"})
        expect_true(check::json_number(site(profile, outside), "peak_resident_bytes") > 0);
    expect_true(check::json_number(profile, "peak_resident_bytes") > (long long)(8 * mib));
}

TEST(program_idle) {}

// What the library itself takes is no part of the program: a small program's plan would lose its
// fast tier to it.
TEST(the_librarys_own_memory_is_left_out) {
    std::string profile = only_profile(run("program_idle"));
    expect_true(check::json_number(site(profile, "(other)"), "peak_resident_bytes") < 512 << 10);
}

TEST(program_killed) {
    AnnotatedModule module("prog", {"prog!killed@a.c:1:1"});
    void *block = tc_malloc(mib, module[0]);
    fill(block, 1, mib);
    if (getenv("THERMOCLINE_CONFIG")) {
        usleep(400000);
        raise(SIGKILL);
    }
}

TEST(a_killed_program_leaves_what_was_seen) {
    std::string directory = check::make_directory();
    expect_eq(check::run_self(directory, PROFILED, {"--case", "program_killed"}), 1000 + SIGKILL);
    std::string profile = only_profile(directory);
    expect_true(profile.find("\"complete\": false") != std::string::npos);
    expect_eq(check::json_number(site(profile, "prog!killed@a.c:1:1"), "peak_resident_bytes"),
              (long long)mib);
    expect_str(profile.substr(profile.size() - 2), "}\n"); // whole
}

TEST(program_forking) {
    AnnotatedModule module("prog", {"prog!forked@a.c:1:1"});
    free(tc_malloc(1000, module[0]));
    pid_t child = fork();
    if (child == 0) {
        for (int i = 0; i < 5; ++i)
            free(tc_malloc(100, module[0]));
        exit(0);
    }
    int status = 1;
    waitpid(child, &status, 0);
    expect_eq(status, 0);
    check::write_file(check::scratch("pids"),
                      std::to_string(getpid()) + " " + std::to_string(child));
}

TEST(parent_and_child_have_a_profile_each) {
    std::string directory = run("program_forking");
    int parent = 0, child = 0;
    expect_eq(sscanf(check::read_file(directory + "/pids").c_str(), "%d %d", &parent, &child), 2);
    expect_eq(check::json_number(site(profile_of(directory, parent), "prog!forked@a.c:1:1"),
                                 "allocations"),
              1LL);
    expect_eq(check::json_number(site(profile_of(directory, child), "prog!forked@a.c:1:1"),
                                 "allocations"),
              5LL);
}

// Signals go to the program's threads, and its descriptors are where it expects them.
TEST(program_watched) {
    signal(SIGUSR1, [](int) {
        char name[16] = "";
        pthread_getname_np(pthread_self(), name, sizeof name);
        if (!strcmp(name, "thermocline"))
            _exit(5);
    });
    for (int i = 0; i < 300; ++i) {
        kill(getpid(), SIGUSR1);
        close(0);
        expect_eq(dup(1), 0);
        usleep(300);
    }
    int ends[2];
    expect_eq(pipe(ends), 0);
    usleep(50000);
    close(ends[1]);
    char byte;
    alarm(10); // a copy of the pipe's other end would keep it open
    expect_eq(read(ends[0], &byte, 1), ssize_t(0));
}

TEST(the_watching_thread_is_not_noticed) { run("program_watched"); }

} // namespace
