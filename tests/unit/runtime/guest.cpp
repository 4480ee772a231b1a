// An annotated shared library, for host_test.cpp.
#include "annotated.h"

static AnnotatedModule *module;

extern "C" {
__attribute__((constructor)) void load() { module = new AnnotatedModule("guest", {"g!f@g.c:1"}); }
__attribute__((destructor)) void unload() { delete module; }

void *guest_block(size_t size) { return tc_malloc(size, (*module)[0]); }
void *guest_new(size_t size) { return tc_new(size, (*module)[0]); }
void *guest_resized(void *p, size_t size) { return tc_realloc(p, size, (*module)[0]); }
void guest_free(void *p) { free(p); }
}
