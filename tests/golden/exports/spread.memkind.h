/* Thermocline's plan fastest for xeon-max-9480: the memkind kind of a line that allocates.
 * Include it from the command line, so that lines stay what they are, and edit in place:
 *   cc -include PLAN.memkind.h ... -lmemkind
 *   p = memkind_malloc(THERMOCLINE_KIND, size);  ...  memkind_free(NULL, p);
 * Lost: 1 of 7 sites have no line in a source file and are left out.
 * Lost: 1 of 7 sites were to be in several tiers and are in the one of their largest share.
 * Lost: most traffic decides at places of several tiers' sites: 1.
 * Lost: only C and C++ code that you change, and no operator new.
 * Lost: a kind that the host has no memory for gives NULL (memkind_check_available).
 * Lost: no limit: the plan left 504 MiB of hbm2e for the heap.
 */
#ifndef THERMOCLINE_KIND
#include <memkind.h>
#define THERMOCLINE_KIND thermocline_kind(__FILE__, __LINE__)

/* Whether one path ends with the other, at a slash; folded at -O2. */
static inline int thermocline_ends(const char *path, const char *end) {
    unsigned long p = __builtin_strlen(path), e = __builtin_strlen(end);
    if (p < e) {
        const char *shorter = path;
        unsigned long size = p;
        path = end, end = shorter, p = e, e = size;
    }
    return !__builtin_strcmp(path + p - e, end) && (p == e || path[p - e - 1] == '/');
}

static inline memkind_t thermocline_kind(const char *file, int line) {
    if (file[0] == '.' && file[1] == '/')
        file += 2;
    if (line == 212 && thermocline_ends(file, "src/lulesh.cc"))
        return MEMKIND_HBW_PREFERRED;
    if (line == 41 && thermocline_ends(file, "src/util.cc"))
        return MEMKIND_HBW_PREFERRED;
    if (line == 7 && thermocline_ends(file, "src/grid\040\042a\042\077\077/.c"))
        return MEMKIND_HBW_PREFERRED;
    if (line == 3 && thermocline_ends(file, "src/odd\076name.c"))
        return MEMKIND_HBW_PREFERRED;
    return MEMKIND_DEFAULT;
}
#endif
