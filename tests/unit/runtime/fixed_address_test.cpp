// An executable that is not position-independent and takes malloc's address: the loader then
// makes its linkage-table entry malloc's address for everybody, our library included.
#include "annotated.h"
#include "check.h"
#include <malloc.h>

namespace {
// Taken in code, where it is a number for the linker to fill in, not a relocation for the
// loader.
using Malloc = void *(size_t);
__attribute__((noinline)) Malloc *address() { return malloc; }
Malloc *const volatile routine = address();
} // namespace

constexpr char guided[] = "heap guided\nreport %DIR%/report\ntier 0 nodes - capacity 0\n"
                          "tier 1 nodes - capacity 0\ndefault-tier 1\nsite 0 m!f@a.c:1\n";

TEST(malloc_by_its_address) {
    void *p = routine(100);
    expect_ne(p, static_cast<void *>(nullptr));
    expect_ge(malloc_usable_size(p), size_t{100});
    p = realloc(p, 100000);
    free(p);
}

TEST_WITH_CONFIG(sites_are_placed, guided) {
    AnnotatedModule module("m", {"m!f@a.c:1", "m!g@a.c:2"});
    char *planned = static_cast<char *>(tc_malloc(100, module[0]));
    char *other = static_cast<char *>(tc_malloc(100, module[1]));
    char *plain = static_cast<char *>(routine(100));
    // Tiers have ranges of their own, terabytes apart or nearly so.
    expect_ge(labs(planned - other), long{1} << 30);
    expect_lt(labs(plain - other), long{1} << 30);
    free(planned);
    free(other);
    free(plain);
}
