// An executable whose malloc counts calls and passes them on to the next one, which is ours.
#include "annotated.h"
#include "check.h"
#include <dlfcn.h>
#include <malloc.h>

namespace {

int calls;

template <typename Routine> Routine *next(const char *name) {
    return reinterpret_cast<Routine *>(dlsym(RTLD_NEXT, name));
}

} // namespace

extern "C" {
void *malloc(size_t size) {
    calls++;
    return next<void *(size_t)>("malloc")(size);
}
void free(void *p) { next<void(void *)>("free")(p); }
void *realloc(void *p, size_t size) {
    calls++;
    return next<void *(void *, size_t)>("realloc")(p, size);
}
}

TEST(annotated_calls_go_through_it_and_come_to_us) {
    AnnotatedModule module("m", {"m!f@a.c:1"});
    const int before = calls;
    void *p = tc_malloc(100, module[0]);
    expect_eq(calls, before + 1);
    p = tc_realloc(p, 1000, module[0]);
    expect_eq(calls, before + 2);
    free(p);
    p = tc_calloc(10, 10, module[0]); // it has none of its own
    expect_eq(static_cast<char *>(p)[99], 0);
    free(p);
    p = calloc(10, 10);
    free(p);
    p = realloc(nullptr, 10);
    free(p);
    expect_ge(calls, before + 4);
}
