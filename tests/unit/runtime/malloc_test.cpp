// A malloc before it is anything else.
#include "annotated.h"
#include "check.h"
#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <dlfcn.h>
#include <malloc.h>
#include <pthread.h>
#include <thread>

namespace {

uintptr_t address(const void *p) { return reinterpret_cast<uintptr_t>(p); }

bool is_filled(const void *p, int value, size_t size) {
    const unsigned char *bytes = static_cast<const unsigned char *>(p);
    return std::all_of(bytes, bytes + size, [&](unsigned char c) { return c == value; });
}

// Volatile, so that no compiler knows what the sizes are.
volatile size_t huge = SIZE_MAX / 2;

} // namespace

TEST(malloc_is_ours) {
    Dl_info own, entry;
    expect_true(dladdr(reinterpret_cast<void *>(malloc), &own) != 0);
    expect_true(dladdr(reinterpret_cast<void *>(tc_malloc), &entry) != 0);
    expect_str(own.dli_fname, entry.dli_fname);
}

TEST(zero_bytes_are_a_block_of_its_own) {
    void *a = malloc(0), *b = malloc(0);
    expect_true(a && b && a != b);
    free(a);
    free(b);
    free(nullptr);
}

TEST(every_block_is_aligned_to_16) {
    for (size_t size = 0; size < 3000; size++) {
        void *p = malloc(size);
        expect_eq(address(p) % 16, 0u);
        expect_ge(malloc_usable_size(p), size);
        memset(p, 1, size);
        free(p);
    }
}

TEST(calloc_clears) {
    for (int round = 0; round < 100; round++)
        for (size_t size : {1u, 8u, 24u, 1000u, 5000u, 100000u, 3000000u, 40000000u}) {
            if (size > 100000 && round > 1)
                continue;
            void *dirty = malloc(size);
            memset(dirty, 0xee, size);
            free(dirty);
            void *p = calloc(1, size);
            expect_true(is_filled(p, 0, size));
            free(p);
        }
}

TEST(too_much_is_enomem) {
    errno = 0;
    expect_true(malloc(huge) == nullptr);
    expect_eq(errno, ENOMEM);
    errno = 0;
    expect_true(calloc(huge, 4) == nullptr);
    expect_eq(errno, ENOMEM);
    void *p = malloc(10);
    errno = 0;
    expect_true(realloc(p, huge) == nullptr);
    expect_eq(errno, ENOMEM);
    errno = 0;
    expect_true(reallocarray(p, huge, 4) == nullptr);
    expect_eq(errno, ENOMEM);
    free(p); // the failed ones left it
    errno = 0;
    expect_true(aligned_alloc(4096, huge) == nullptr);
    expect_eq(errno, ENOMEM);
    expect_true(pvalloc(SIZE_MAX - 1) == nullptr);
}

TEST(realloc_corner_cases) {
    void *p = realloc(nullptr, 100);
    expect_true(p != nullptr);
    memset(p, 7, 100);
    for (size_t size : {200u, 100000u, 50u, 20000000u, 10u}) {
        p = realloc(p, size);
        expect_true(is_filled(p, 7, std::min<size_t>(size, 10)));
        expect_ge(malloc_usable_size(p), size);
    }
    expect_true(realloc(p, 0) == nullptr); // freed, as glibc does
    expect_true(realloc(nullptr, 0) != nullptr);
}

TEST(realloc_keeps_everything) {
    std::vector<unsigned char> expected(300000);
    for (size_t i = 0; i < expected.size(); i++)
        expected[i] = static_cast<unsigned char>(i * 7);
    unsigned char *p = static_cast<unsigned char *>(malloc(1));
    size_t size = 1;
    p[0] = expected[0];
    while (size < expected.size()) {
        const size_t next = std::min(expected.size(), size + size / 3 + 1);
        p = static_cast<unsigned char *>(realloc(p, next));
        memcpy(p + size, expected.data() + size, next - size);
        size = next;
        if (memcmp(p, expected.data(), size) != 0)
            return check::fail(__FILE__, __LINE__, "lost at " + std::to_string(size));
    }
    free(p);
}

TEST(free_leaves_errno_alone) {
    for (size_t size : {10u, 100000u, 100000000u}) {
        void *p = malloc(size);
        memset(p, 1, size);
        errno = 12345;
        free(p);
        expect_eq(errno, 12345);
    }
    void *p = aligned_alloc(size_t(64) << 20, 100);
    errno = 12345;
    free(p);
    expect_eq(errno, 12345);
}

TEST(alignments) {
    for (size_t align = 8; align <= size_t(1) << 30; align *= 2)
        for (size_t size : {size_t(1), size_t(100), align, size_t(5000000)}) {
            if (size > size_t(64) << 20)
                continue;
            void *p = nullptr;
            expect_eq(posix_memalign(&p, align, size), 0);
            expect_eq(address(p) % align, 0u);
            expect_ge(malloc_usable_size(p), size);
            memset(p, 3, size);
            p = realloc(p, size + 1000);
            expect_true(is_filled(p, 3, size));
            free(p);
        }
    void *kept = &kept;
    void *p = kept;
    errno = 5;
    expect_eq(posix_memalign(&p, 24, 10), EINVAL);
    expect_eq(posix_memalign(&p, 4, 10), EINVAL);
    expect_eq(posix_memalign(&p, 64, huge), ENOMEM);
    expect_true(p == kept);
    expect_eq(errno, 5);
    volatile size_t odd = 24;
    expect_true(aligned_alloc(odd, 48) == nullptr);
    expect_eq(errno, EINVAL);
    p = memalign(odd, 100); // rounded up, as glibc does
    expect_eq(address(p) % 32, 0u);
    free(p);
    p = valloc(10);
    expect_eq(address(p) % 4096, 0u);
    free(p);
    p = pvalloc(4097);
    expect_ge(malloc_usable_size(p), 8192u);
    free(p);
    expect_eq(malloc_usable_size(nullptr), 0u);
}

TEST(huge_alignments_do_not_overlap) {
    std::vector<char *> blocks;
    for (int i = 0; i < 20; i++) {
        blocks.push_back(static_cast<char *>(aligned_alloc(size_t(64) << 20, 1 << 20)));
        memset(blocks.back(), i, 1 << 20);
    }
    for (int i = 0; i < 20; i++)
        expect_true(is_filled(blocks[static_cast<size_t>(i)], i, 1 << 20));
    for (char *block : blocks)
        free(block);
}

TEST(other_threads_free_blocks) {
    std::vector<void *> blocks(50000);
    std::thread maker([&] {
        for (size_t i = 0; i < blocks.size(); i++) {
            blocks[i] = malloc(i % 700);
            memset(blocks[i], static_cast<int>(i), i % 700);
        }
    });
    maker.join(); // it ended while its blocks live
    std::vector<std::thread> threads;
    for (size_t t = 0; t < 4; t++)
        threads.emplace_back([&, t] {
            for (size_t i = t; i < blocks.size(); i += 4) {
                if (!is_filled(blocks[i], static_cast<unsigned char>(i), i % 700))
                    check::fail(__FILE__, __LINE__, "block " + std::to_string(i));
                blocks[i] = realloc(blocks[i], i % 900);
                free(blocks[i]);
            }
        });
    for (std::thread &thread : threads)
        thread.join();
}

namespace {

struct AtThreadEnd {
    void *block = malloc(50);
    ~AtThreadEnd() {
        free(block);
        void *p = malloc(2000);
        memset(p, 1, 2000);
        free(p);
    }
};
thread_local AtThreadEnd at_thread_end;

pthread_key_t keys[20];
void end_of_key(void *value) {
    free(value);
    free(malloc(100));
}

} // namespace

TEST(destructors_of_ending_threads_allocate) {
    for (pthread_key_t &key : keys)
        pthread_key_create(&key, end_of_key);
    for (int i = 0; i < 200; i++)
        std::thread([] {
            at_thread_end.block = realloc(at_thread_end.block, 500);
            for (pthread_key_t key : keys)
                pthread_setspecific(key, malloc(77));
        }).join();
}

namespace {

// Before main, and before and after every other constructor and destructor of the program.
void *before_main;
__attribute__((constructor(102))) void early() {
    before_main = malloc(100);
    memset(before_main, 9, 100);
}
void late() {
    free(malloc(1000));
    free(realloc(malloc(10), 100000));
    free(before_main);
}
__attribute__((destructor(102))) void last() { free(malloc(500)); }

} // namespace

TEST(before_main_and_after_exit) {
    expect_true(is_filled(before_main, 9, 100));
    atexit(late);
}

TEST(annotated_forms_do_the_same) {
    AnnotatedModule module("m", {"m!f@f.c:1"});
    tc_site *site = module[0];
    for (int round = 0; round < 3; round++) {
        void *p = tc_malloc(0, site);
        expect_true(p != nullptr);
        p = tc_realloc(p, 5000, site);
        expect_ge(malloc_usable_size(p), 5000u);
        p = tc_reallocarray(p, 100, 100, site);
        expect_ge(malloc_usable_size(p), 10000u);
        expect_true(tc_realloc(p, 0, site) == nullptr);
        p = tc_calloc(10, 10, site);
        expect_true(is_filled(p, 0, 100));
        free(p);
        errno = 0;
        expect_true(tc_calloc(huge, 10, site) == nullptr);
        expect_eq(errno, ENOMEM);
        expect_true(tc_reallocarray(nullptr, huge, 10, site) == nullptr);
        expect_eq(tc_posix_memalign(&p, 1 << 20, 10, site), 0);
        expect_eq(address(p) % (1 << 20), 0u);
        free(p);
        p = tc_aligned_alloc(size_t(1) << 26, 10, site);
        expect_eq(address(p) % (1 << 26), 0u);
        free(p);
        free(tc_memalign(100, 10, site));
        free(tc_valloc(10, site));
        p = tc_pvalloc(1, site);
        expect_ge(malloc_usable_size(p), 4096u);
        free(p);
    }
}

TEST(library_routines_that_allocate) {
    char *text = strdup("some text");
    expect_str(text, "some text");
    free(text);
    char *line = nullptr;
    expect_eq(asprintf(&line, "%0200d", 7), 200);
    free(line);
    size_t room = 0;
    FILE *file = fopen("/proc/self/status", "r");
    line = nullptr;
    expect_true(file && getline(&line, &room, file) > 0);
    fclose(file);
    free(line);
    free(realpath("/proc/self/exe", nullptr));
}
