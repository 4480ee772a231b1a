// fork while other threads allocate, end, and free each other's blocks.
#include "annotated.h"
#include "check.h"
#include <atomic>
#include <csignal>
#include <thread>

namespace {

constexpr char guided[] = "heap guided\nreport %DIR%/report\n"
                          "tier 0 nodes - capacity 20000000\ntier 1 nodes - capacity 0\n"
                          "default-tier 1\nsite 0 m!f@f.c:1\n";

void work(AnnotatedModule &module, unsigned seed, int rounds) {
    std::vector<void *> blocks(500);
    for (int i = 0; i < rounds; i++) {
        seed = seed * 1664525 + 1013904223;
        void *&block = blocks[seed >> 8 & 255];
        free(block);
        block = tc_malloc(seed >> 16 & 4095, module[seed & 1]);
        if (i % 1000 == 0) {
            free(aligned_alloc(size_t(64) << 20, 100));
            free(malloc(3000000));
        }
    }
    for (void *block : blocks)
        free(block);
}

void storm(AnnotatedModule &module) {
    std::atomic<bool> stop{false};
    std::vector<std::thread> threads;
    for (unsigned t = 0; t < 4; t++)
        threads.emplace_back([&, t] {
            while (!stop)
                std::thread([&, t] { work(module, t, 3000); }).join();
        });
    for (unsigned i = 0; i < 150; i++) {
        const pid_t child = fork();
        if (child == 0) {
            work(module, i, 3000);
            std::thread([&] { work(module, i, 3000); }).join();
            _exit(0);
        }
        int status = 0;
        for (int tenths = 0; waitpid(child, &status, WNOHANG) == 0; tenths++) {
            if (tenths == 600) {
                kill(child, SIGABRT);
                check::fail(__FILE__, __LINE__, "a child hangs");
            }
            usleep(100000 / (tenths ? 1 : 10));
        }
        expect_eq(status, 0);
    }
    stop = true;
    for (std::thread &thread : threads)
        thread.join();
}

} // namespace

TEST(storm_plain) {
    AnnotatedModule module("m", {"m!f@f.c:1", "m!g@f.c:2"});
    storm(module);
}

TEST_WITH_CONFIG(storm_guided, guided) {
    AnnotatedModule module("m", {"m!f@f.c:1", "m!g@f.c:2"});
    storm(module);
}

TEST_WITH_CONFIG(each_process_reports, guided) {
    AnnotatedModule module("m", {"m!f@f.c:1", "m!g@f.c:2"});
    free(tc_malloc(10, module[0]));
    fflush(nullptr);
    for (int how = 0; how < 3; how++) {
        const pid_t child = how == 2 ? vfork() : fork();
        if (child == 0) {
            if (how == 0)
                exit(0);
            _exit(0);
        }
        int status = 0;
        waitpid(child, &status, 0);
        expect_eq(status, 0);
        const std::string report =
            check::read_file(check::scratch("report." + std::to_string(child) + ".json"));
        if (how == 2) // shares our memory: it must not report in our name
            expect_true(report.empty());
        else
            expect_eq(check::json_number(report, "pid"), static_cast<long long>(child));
    }
    const std::string own =
        check::read_file(check::scratch("report." + std::to_string(getpid()) + ".json"));
    expect_true(own.empty()); // not before we end
}
