// A program that brings its own operator new: it is called, and what it takes from malloc
// belongs to the site.
#include "annotated.h"
#include "check.h"
#include <cstdint>
#include <malloc.h>
#include <new>

namespace {

constexpr uint64_t magic = 0x7ea5e11a5deadbeeu;
int news, deletes;
void *last_block;

} // namespace

void *operator new(size_t size) {
    news++;
    char *p = static_cast<char *>(malloc(size + 16));
    if (!p)
        throw std::bad_alloc();
    last_block = p;
    memcpy(p, &magic, sizeof magic);
    return p + 16;
}
void operator delete(void *p) noexcept {
    if (!p)
        return;
    deletes++;
    char *start = static_cast<char *>(p) - 16;
    if (memcmp(start, &magic, sizeof magic) != 0)
        abort(); // not made by our operator new
    free(start);
}
void operator delete(void *p, size_t) noexcept { operator delete(p); }

TEST_WITH_CONFIG(it_is_called, "heap guided\ntier 0 nodes - capacity 0\ntier 1 nodes - capacity 0\n"
                               "default-tier 1\nsite 0 m!f@f.cc:1\nsite 1 m!g@f.cc:2\n") {
    AnnotatedModule module("m", {"m!f@f.cc:1", "m!g@f.cc:2"});
    // A malloc at the site resolves it; new must not take that heap all the same.
    void *fast = tc_malloc(100, module[0]);
    const uintptr_t range = reinterpret_cast<uintptr_t>(fast) >> 25;
    free(fast);
    for (int round = 0; round < 3; round++) {
        const int had = news, gone = deletes;
        void *p = tc_new(50, module[0]);
        expect_eq(news, had + 1);
        expect_eq(reinterpret_cast<uintptr_t>(last_block) >> 25, range);
        operator delete(p);
        p = tc_new_array(50, module[0]); // the library's, which calls ours
        expect_eq(news, had + 2);
        expect_eq(reinterpret_cast<uintptr_t>(last_block) >> 25, range);
        operator delete[](p);
        p = tc_new(50, module[1]);
        expect_ne(reinterpret_cast<uintptr_t>(last_block) >> 25, range);
        operator delete(p);
        expect_eq(deletes, gone + 3);
    }
    bool threw = false;
    try {
        tc_new(SIZE_MAX / 2, module[0]);
    } catch (const std::bad_alloc &) {
        threw = true;
    }
    expect_true(threw);
    expect_true(tc_carry(nullptr) == nullptr);
}
