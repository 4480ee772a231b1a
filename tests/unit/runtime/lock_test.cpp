// The lock: exclusive, and cheap to wait for.
#include "check.h"
#include "lock.h"
#include <ctime>
#include <thread>

TEST(one_at_a_time) {
    tc::Lock lock;
    long sum = 0;
    std::vector<std::thread> threads;
    for (int t = 0; t < 4; t++)
        threads.emplace_back([&] {
            for (int i = 0; i < 100000; i++) {
                tc::Guard guard(lock);
                sum++;
            }
        });
    for (std::thread &thread : threads)
        thread.join();
    expect_eq(sum, 400000L);
}

// A waiter of higher real-time priority would otherwise never let the holder run.
TEST(who_waits_sleeps) {
    tc::Lock lock;
    lock.acquire();
    timespec used{};
    std::thread waiter([&] {
        tc::Guard guard(lock);
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &used);
    });
    usleep(200000);
    lock.release();
    waiter.join();
    expect_lt(used.tv_sec * 1000000000 + used.tv_nsec, 50000000L);
}
