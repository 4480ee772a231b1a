// An executable that brings its own malloc: the annotated entries step aside.
#include "annotated.h"
#include "check.h"
#include <cerrno>
#include <cstdint>
#include <malloc.h>
#include <pthread.h>

namespace {

// From one static array, never reused; a header in front of each block tells its size.
alignas(4096) char arena[64 << 20];
size_t used;
int calls;

char *bump(size_t size, size_t align) {
    calls++;
    size_t at = __atomic_load_n(&used, __ATOMIC_RELAXED), start;
    do {
        start = (at + 16 + align - 1) & ~(align - 1);
        if (start + size > sizeof arena)
            return nullptr;
    } while (!__atomic_compare_exchange_n(&used, &at, start + size, false, __ATOMIC_RELAXED,
                                          __ATOMIC_RELAXED));
    memcpy(arena + start - 8, &size, 8);
    return arena + start;
}

bool is_in_arena(const void *p) {
    return p >= static_cast<void *>(arena) && p < static_cast<void *>(arena + sizeof arena);
}

} // namespace

extern "C" {
void *malloc(size_t size) { return bump(size, 16); }
void *calloc(size_t count, size_t each) { return bump(count * each, 16); }
void free(void *p) {
    if (p && !is_in_arena(p))
        abort(); // a block of another allocator
}
size_t malloc_usable_size(void *p) {
    size_t size;
    memcpy(&size, static_cast<char *>(p) - 8, 8);
    return size;
}
void *realloc(void *p, size_t size) {
    void *fresh = bump(size, 16);
    if (p && fresh) {
        const size_t old = malloc_usable_size(p);
        memcpy(fresh, p, old < size ? old : size);
    }
    return fresh;
}
void *aligned_alloc(size_t align, size_t size) { return bump(size, align); }
void *memalign(size_t align, size_t size) { return bump(size, align); }
int posix_memalign(void **out, size_t align, size_t size) {
    *out = bump(size, align);
    return *out ? 0 : ENOMEM;
}
}

TEST_WITH_CONFIG(every_entry_calls_it,
                 "heap guided\nreport %DIR%/report\ntier 0 nodes - capacity 0\ndefault-tier 0\n") {
    AnnotatedModule module("m", {"m!f@f.cc:1"});
    tc_site *site = module[0];
    for (int round = 0; round < 2; round++) {
        void *p = tc_malloc(10, site);
        expect_true(is_in_arena(p));
        p = tc_realloc(p, 100, site);
        expect_true(is_in_arena(p));
        void *aligned = nullptr;
        expect_eq(tc_posix_memalign(&aligned, 64, 10, site), 0);
        void *blocks[] = {p,
                          aligned,
                          tc_calloc(2, 10, site),
                          tc_reallocarray(nullptr, 2, 10, site),
                          reallocarray(nullptr, 2, 10), // ours, since it defines none
                          tc_aligned_alloc(64, 10, site),
                          tc_memalign(64, 10, site),
                          tc_valloc(10, site),
                          tc_pvalloc(10, site),
                          tc_new(10, site),
                          tc_new_array(10, site),
                          tc_new_aligned(10, 64, site)};
        for (void *block : blocks) {
            expect_true(is_in_arena(block));
            free(block);
        }
        tc_site *old = tc_carry(site);
        char *text = strdup("x");
        tc_carry(old);
        expect_true(is_in_arena(text));
    }
}

TEST(says_so) {
    const std::string directory = check::scratch("inner");
    mkdir(directory.c_str(), 0777);
    const char config[] =
        "heap guided\nreport %DIR%/report\ntier 0 nodes - capacity 0\ndefault-tier 0\n";
    expect_eq(check::run_self(directory, config, {"--case", "every_entry_calls_it"}), 0);
    FILE *list = popen(("cat " + directory + "/report.*.json").c_str(), "r");
    std::string report(10000, 0);
    report.resize(fread(report.data(), 1, report.size(), list));
    pclose(list);
    expect_true(report.find("\"stepped_aside\": \"the executable\"") != std::string::npos);
}
