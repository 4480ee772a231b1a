// The live path, with the one event that has addresses on every machine: page faults.
#include "annotated.h"
#include "check.h"
#include <dirent.h>
#include <pthread.h>
#include <sys/mman.h>
#include <unistd.h>

#define SAMPLED                                                                                    \
    "heap sites\nsampler sample\n"                                                                 \
    "option event.1 counts=0,type=1,config=2,period=1,name=page-faults\n"                          \
    "profile %DIR%/out\ninterval-ms 10\n"

namespace {

constexpr size_t page = 4096;
volatile char *touched;

void touch(void *block, size_t pages) {
    touched = static_cast<char *>(block);
    for (size_t i = 0; i < pages; ++i)
        touched[i * page] = 1;
}

std::string site(const std::string &profile, const std::string &key) {
    const size_t at = profile.find("\"key\": \"" + key + "\"");
    return at == std::string::npos ? ""
                                   : profile.substr(at, profile.find("\"key\": ", at + 1) - at);
}

std::string run(const char *name) {
    const std::string directory = check::make_directory();
    expect_eq(check::run_self(directory, SAMPLED, {"--case", name}), 0);
    expect_str(check::read_file(directory + "/stderr"), "");
    return directory;
}

std::vector<std::string> profiles(const std::string &directory) {
    std::vector<std::string> found;
    if (DIR *entries = opendir(directory.c_str())) {
        while (dirent *entry = readdir(entries))
            if (std::string(entry->d_name).ends_with(".profile"))
                found.push_back(check::read_file(directory + "/" + entry->d_name));
        closedir(entries);
    }
    return found;
}

void *touch_in_thread(void *block) {
    touch(block, 300);
    return nullptr;
}

} // namespace

TEST(program_threads) {
    AnnotatedModule module("prog", {"prog!mine@a.c:1:1", "prog!its@a.c:2:2", "prog!idle@a.c:3:3"});
    void *mine = tc_malloc(1000 * page, module[0]);
    void *its = tc_malloc(1000 * page, module[1]);
    void *idle = tc_malloc(1000 * page, module[2]);
    touch(mine, 500);
    pthread_t thread;
    pthread_create(&thread, nullptr, touch_in_thread, its);
    pthread_join(thread, nullptr);
    touch(mine, 700);
    expect_true(idle != nullptr);
}

TEST(each_first_touch_is_its_sites) {
    const auto found = profiles(run("program_threads"));
    expect_eq(found.size(), 1u);
    const std::string &profile = found[0];
    expect_eq(check::json_number(site(profile, "prog!mine@a.c:1:1"), "samples"), 700);
    expect_eq(check::json_number(site(profile, "prog!its@a.c:2:2"), "samples"), 300);
    expect_eq(check::json_number(site(profile, "prog!idle@a.c:3:3"), "samples"), 0);
    // Faults are no traffic.
    expect_eq(check::json_number(site(profile, "prog!mine@a.c:1:1"), "read_bytes"), 0);
    expect_eq(check::json_number(profile, "lost"), 0);
    expect_eq(check::json_number(profile, "rings"), sysconf(_SC_NPROCESSORS_ONLN));
}

TEST(program_forks) {
    AnnotatedModule module("prog", {"prog!parents@a.c:1:1", "prog!childs@a.c:2:2"});
    void *parents = tc_malloc(1000 * page, module[0]);
    touch(parents, 400);
    if (fork() == 0) {
        void *childs = tc_malloc(2000 * page, module[1]);
        usleep(300000); // it samples some time after its first allocation
        touch(childs, 2000);
        return;
    }
    wait(nullptr);
}

TEST(a_child_counts_for_itself) {
    const auto found = profiles(run("program_forks"));
    expect_eq(found.size(), 2u);
    long long parents = 0, childs = 0;
    for (const std::string &profile : found) {
        const auto of = [&](const char *key) {
            return check::json_number(site(profile, key), "samples");
        };
        if (of("prog!childs@a.c:2:2") >= 0) {
            childs = of("prog!childs@a.c:2:2");
        } else {
            parents = of("prog!parents@a.c:1:1");
            expect_str(site(profile, "prog!childs@a.c:2:2"), "");
        }
    }
    expect_eq(parents, 400);
    expect_eq(childs, 2000);
}

TEST(program_ends_at_once) {}

TEST(a_short_program_is_sampled_too) {
    const auto found = profiles(run("program_ends_at_once"));
    expect_eq(found.size(), 1u);
    expect_true(found[0].find("\"complete\": true") != std::string::npos);
}
