// Writers that take turns, threads beside their data.
#include "check.h"
#include "thermocline/policies.h"
#include <atomic>
#include <sched.h>
#include <thread>

using namespace check;

static int most_at_once(unsigned limit) {
    std::atomic<int> now{0}, most{0}, done{0};
    std::vector<std::thread> threads;
    tc_limit_writers(limit);
    for (int t = 0; t < 6; t++)
        threads.emplace_back([&] {
            for (int i = 0; i < 200; i++) {
                tc_write_begin();
                const int here = ++now;
                for (int seen = most; seen < here && !most.compare_exchange_weak(seen, here);) {
                }
                sched_yield();
                now--;
                done++;
                tc_write_end();
            }
        });
    for (std::thread &thread : threads)
        thread.join();
    expect_eq(done.load(), 1200);
    return most;
}

TEST(no_more_writers_than_the_limit) {
    expect_eq(most_at_once(1), 1);
    expect_le(most_at_once(3), 3);
}

TEST(without_a_limit_nobody_waits) {
    // Both are inside at once, or this hangs.
    std::atomic<int> inside{0};
    tc_limit_writers(0);
    const auto work = [&] {
        tc_write_begin();
        inside++;
        while (inside < 2)
            sched_yield();
        tc_write_end();
    };
    std::thread other(work);
    work();
    other.join();
    expect_eq(inside.load(), 2);
}

TEST(a_raised_limit_lets_waiters_in) {
    tc_limit_writers(1);
    tc_write_begin();
    std::atomic<bool> inside{false};
    std::thread other([&] {
        tc_write_begin();
        inside = true;
        tc_write_end();
    });
    usleep(20000);
    expect_eq(inside.load(), false);
    tc_limit_writers(2);
    other.join();
    expect_eq(inside.load(), true);
    tc_write_end();
}

TEST(a_thread_runs_near_its_data) {
    char *p = static_cast<char *>(tc_spill(1 << 20, nullptr));
    expect_eq(tc_run_near(p), -1); // not touched yet: nowhere
    expect_eq(std::string(tc_policy_error()).find("was it touched") != std::string::npos, true);
    p[5000] = 1;
    expect_eq(tc_run_near(p + 5000), 0);
    cpu_set_t allowed;
    expect_eq(sched_getaffinity(0, sizeof allowed, &allowed), 0);
    expect_ge(CPU_COUNT(&allowed), 1);
    tc_policy_free(p, 1 << 20);
}
