// Which malloc and which operator new serve this process, and calls to them.
#include "aside.h"
#include "library_new.h"
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <link.h>
#include <malloc.h>

namespace tc {

namespace {

// The loader fills these in, with whatever the process resolves: volatile, so that the
// compiler does not take them for our own functions.
void *(*volatile resolved_malloc)(size_t) = malloc;
void *(*volatile resolved_calloc)(size_t, size_t) = calloc;
void *(*volatile resolved_realloc)(void *, size_t) = realloc;
void (*volatile resolved_free)(void *) = free;
void *(*volatile resolved_memalign)(size_t, size_t) = memalign;
int (*volatile resolved_posix_memalign)(void **, size_t, size_t) = posix_memalign;
void *(*volatile resolved_aligned_alloc)(size_t, size_t) = aligned_alloc;
size_t (*volatile resolved_usable)(void *) = malloc_usable_size;

struct Module {
    uintptr_t start, end;
    const char *name;
};

bool module_of(const void *address, Module &module) {
    dl_find_object found;
    if (_dl_find_object(const_cast<void *>(address), &found) != 0)
        return false;
    module = {reinterpret_cast<uintptr_t>(found.dlfo_map_start),
              reinterpret_cast<uintptr_t>(found.dlfo_map_end), found.dlfo_link_map->l_name};
    return true;
}

// In a static executable there are no modules to tell apart, and its malloc is ours: the
// linker would not have let two of them in.
bool is_static() {
    Module own;
    return !module_of(reinterpret_cast<const void *>(&module_of), own);
}

template <typename Routine> bool is_ours(Routine routine) {
    Module own, other;
    if (!module_of(reinterpret_cast<const void *>(&module_of), own))
        return true;
    return module_of(reinterpret_cast<const void *>(routine), other) && own.start == other.start;
}

} // namespace

const char *foreign_malloc() {
    void *(*const routine)(size_t) = resolved_malloc;
    if (is_ours(routine))
        return nullptr;
    Module module;
    if (!module_of(reinterpret_cast<const void *>(routine), module))
        return "an unknown module";
    return *module.name ? module.name : "the executable";
}

bool foreign_new() {
    for (int form = 0; form < static_cast<int>(NewForm::count); form++) {
        const void *routine = library_new_address(static_cast<NewForm>(form));
        Module module;
        if (!routine)
            continue;
        if (is_static())
            return true; // it could be the program's own: to call it is always right
        if (!module_of(routine, module))
            continue;
        const char *slash = strrchr(module.name, '/');
        const char *base = slash ? slash + 1 : module.name;
        if (strncmp(base, "libstdc++.so", 12) != 0 && strncmp(base, "libc++", 6) != 0)
            return true;
    }
    return false;
}

void *foreign_allocate(const Request &request) {
    if (request.align > alignof(max_align_t)) {
        if (!is_ours(static_cast<int (*)(void **, size_t, size_t)>(resolved_posix_memalign))) {
            void *p = nullptr;
            const int error = resolved_posix_memalign(&p, request.align, request.size);
            if (error)
                errno = error;
            return error ? nullptr : p;
        }
        if (!is_ours(static_cast<void *(*)(size_t, size_t)>(resolved_aligned_alloc)))
            return resolved_aligned_alloc(request.align, request.size);
        if (!is_ours(static_cast<void *(*)(size_t, size_t)>(resolved_memalign)))
            return resolved_memalign(request.align, request.size);
        errno = ENOMEM; // that malloc has no aligned form
        return nullptr;
    }
    return request.zero ? resolved_calloc(1, request.size) : resolved_malloc(request.size);
}

void *foreign_reallocate(void *p, size_t size) { return resolved_realloc(p, size); }
void foreign_free(void *p) { resolved_free(p); }
size_t foreign_usable(void *p) {
    return is_ours(static_cast<size_t (*)(void *)>(resolved_usable)) ? 0 : resolved_usable(p);
}

} // namespace tc
