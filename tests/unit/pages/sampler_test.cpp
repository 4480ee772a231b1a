// Written and accessed pages by site, live.  Without Linux 6.7 there is nothing to see.
#include "annotated.h"
#include "check.h"
#include <ctime>
#include <dirent.h>
#include <unistd.h>

#define LOOKED_AT                                                                                  \
    "heap sites\nsampler pages\noption overhead-ppm 1000000\nprofile %DIR%/out\ninterval-ms 10\n"

namespace {

constexpr size_t page = 4096, pages = 2048;

std::string site(const std::string &profile, const std::string &key) {
    const size_t at = profile.find("\"key\": \"" + key + "\"");
    return at == std::string::npos ? ""
                                   : profile.substr(at, profile.find("\"key\": ", at + 1) - at);
}

std::string only_profile(const std::string &directory) {
    std::string found;
    if (DIR *entries = opendir(directory.c_str())) {
        while (dirent *entry = readdir(entries))
            if (std::string(entry->d_name).ends_with(".profile"))
                found = check::read_file(directory + "/" + entry->d_name);
        closedir(entries);
    }
    return found;
}

} // namespace

// Until there have been some looks, as the profile's checkpoints say.
TEST(program_writes_one) {
    if (!getenv("THERMOCLINE_CONFIG"))
        return;
    AnnotatedModule module("prog",
                           {"prog!written@a.c:1:1", "prog!read@a.c:2:2", "prog!idle@a.c:3:3"});
    volatile char *blocks[3];
    for (int i = 0; i < 3; ++i) {
        blocks[i] = static_cast<char *>(tc_malloc(pages * page, module[size_t(i)]));
        for (size_t p = 0; p < pages; ++p)
            blocks[i][p * page] = 1;
    }
    for (int round = 0; round < 10000; ++round) {
        for (size_t p = 0; p < pages; ++p)
            blocks[0][p * page] = blocks[1][p * page];
        if (round % 100 == 99 &&
            check::json_number(only_profile(check::scratch("")), "looks_accessed") >= 4)
            return;
        usleep(1000);
    }
    expect_true(!"there were four looks");
}

TEST(what_is_written_is_told_from_what_is_read_and_idle) {
    const std::string directory = check::make_directory();
    expect_eq(check::run_self(directory, LOOKED_AT, {"--case", "program_writes_one"}), 0);
    const std::string profile = only_profile(directory);
    if (profile.find("\"written_by\": \"userfaultfd's") == std::string::npos)
        return;
    const auto number = [&](const char *key, const char *name) {
        return check::json_number(site(profile, key), name);
    };
    constexpr long long once = pages * page;
    const long long looks = check::json_number(profile, "looks_written");
    expect_ge(looks, 4);
    // Each was written once, when it came to be; one again and again.  A page that was being
    // written when it was looked at may count twice.
    const long long twice = looks * (long long)page;
    for (const char *key : {"prog!idle@a.c:3:3", "prog!read@a.c:2:2"}) {
        expect_ge(number(key, "written_page_bytes"), once);
        expect_le(number(key, "written_page_bytes"), once + twice);
    }
    expect_ge(number("prog!written@a.c:1:1", "written_page_bytes"), 3 * once);
    expect_le(number("prog!written@a.c:1:1", "written_page_bytes"), looks * once + twice);
    expect_ge(number("prog!read@a.c:2:2", "accessed_page_bytes"), 2 * once);
    expect_le(number("prog!idle@a.c:3:3", "accessed_page_bytes"), once + once / 10);
}
