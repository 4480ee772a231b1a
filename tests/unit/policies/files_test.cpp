// Blocks in files.  /dev/shm is a tmpfs: it has no DAX, and the room that the host gives it.
#include "mappings.h"
#include "thermocline/policies.h"
#include <algorithm>
#include <sys/statvfs.h>

using namespace check;

static constexpr size_t mib = size_t(1) << 20;

// Two directories on the tmpfs, removed at the end.
struct Directories {
    std::string names[2];
    const char *paths[2];
    tc_isolation_options options = {};
    Directories() {
        for (int i = 0; i < 2; i++) {
            char name[] = "/dev/shm/policies.XXXXXX";
            names[i] = mkdtemp(name);
            paths[i] = names[i].c_str();
        }
        options.directories = paths;
        options.directory_count = 2;
        options.flags = TC_ALLOW_PAGE_CACHE;
    }
    ~Directories() {
        for (const std::string &name : names)
            rmdir(name.c_str());
    }
    bool are_empty() const { return entries_in(names[0]) == 0 && entries_in(names[1]) == 0; }
};

TEST(blocks_go_round_the_files) {
    Directories on;
    on.options.block_bytes = mib;
    const size_t bytes = 5 * mib + 100;
    char *start = static_cast<char *>(tc_read_mostly(bytes, &on.options));
    expect_eq(start != nullptr, true);
    memset(start, 1, bytes);
    expect_eq(on.are_empty(), true); // no names, also while the range is there
    const uintptr_t address = reinterpret_cast<uintptr_t>(start);
    const std::string found = mappings_of(address, address + bytes);
    expect_eq(std::count(found.begin(), found.end(), '\n'), long(6));
    for (int block = 0; block < 6; block++) {
        const std::string one = mappings_of(address + block * mib, address + block * mib + 1);
        expect_eq(one.find(on.names[block % 2]) != std::string::npos, true);
        char offset[16];
        snprintf(offset, sizeof offset, " %08zx ", block / 2 * mib);
        expect_eq(one.find(offset) != std::string::npos, true);
    }
    tc_policy_free(start, bytes);
    expect_eq(mappings_of(address, address + bytes), std::string());
}

TEST(data_come_back) {
    Directories on;
    on.options.block_bytes = 8192;
    const size_t count = 100001;
    long *numbers = static_cast<long *>(tc_read_mostly(count * sizeof(long), &on.options));
    for (size_t i = 0; i < count; i++)
        numbers[i] = static_cast<long>(i * i);
    long wrong = 0;
    for (size_t i = 0; i < count; i++)
        wrong += numbers[i] != static_cast<long>(i * i);
    expect_eq(wrong, 0L);
    tc_policy_free(numbers, count * sizeof(long));
}

static void expect_refused(const Directories &on, size_t bytes, const char *why) {
    const long before = mapped_pages();
    const int descriptors = entries_in("/proc/self/fd");
    expect_eq(tc_read_mostly(bytes, &on.options) == nullptr, true);
    expect_eq(said_or_all(why), std::string(why));
    expect_eq(mapped_pages(), before);
    expect_eq(entries_in("/proc/self/fd"), descriptors);
    expect_eq(on.are_empty(), true);
}

TEST(what_does_not_work_leaves_nothing) {
    Directories on;
    expect_refused(on, size_t(1) << 50, "MiB asked for");
    on.options.flags = 0;
    expect_refused(on, mib, "is not on a file system with DAX");
    on.options.flags = TC_ALLOW_PAGE_CACHE;
    on.options.directory_count = 65;
    expect_refused(on, mib, "65 files: at most 64");
    on.options.directory_count = 2;
    on.paths[1] = "/dev/shm/not/there";
    expect_refused(on, mib, "/dev/shm/not/there: ");
    on.paths[1] = "/proc";
    expect_refused(on, 4 * mib, "/proc: ");
    on.paths[1] = nullptr;
    expect_refused(on, mib, "(null)");
}

TEST(directories_of_one_file_system_share_its_room) {
    Directories on;
    struct statvfs room{};
    expect_eq(statvfs("/dev/shm", &room), 0);
    // Either half would fit.
    on.options.block_bytes = size_t(64) << 20;
    expect_refused(on, room.f_bavail * room.f_frsize / 3 * 4, "MiB asked for");
}
