// Which malloc and which operator new serve this process, and calls to them.
#include "aside.h"
#include "environment.h"
#include "library_new.h"
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <dlfcn.h>
#include <link.h>
#include <malloc.h>

namespace tc {

namespace {

// The loader fills these in, with whatever the process resolves: volatile, so that the
// compiler does not take them for our own functions.
void *(*volatile resolved_malloc)(size_t) = malloc;
void *(*volatile resolved_calloc)(size_t, size_t) = calloc;
void *(*volatile resolved_realloc)(void *, size_t) = realloc;
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

template <typename Routine> bool is_ours(Routine &routine) {
    Module own, other;
    // A static linker would not have let two of them in.
    if (is_static_process() || !module_of(reinterpret_cast<const void *>(&module_of), own))
        return true;
    return module_of(reinterpret_cast<const void *>(&routine), other) && own.start == other.start;
}

// An executable that is not position-independent and takes malloc's address makes an entry
// of its own procedure linkage table stand for that address, everywhere in the process.
bool is_linkage_entry(const void *routine) {
    Dl_info info;
    const ElfW(Sym) *symbol = nullptr;
    return dladdr1(routine, &info, reinterpret_cast<void **>(const_cast<ElfW(Sym) **>(&symbol)),
                   RTLD_DL_SYMENT) != 0 &&
           symbol && symbol->st_shndx == SHN_UNDEF;
}

// Who is behind it shows when it is called: this thread is starting the library, so that
// our own malloc comes back here.
bool leads_to_us(void *(*routine)(size_t)) {
    thread.in_start = false;
    void *p = routine(1);
    if (thread.in_start)
        alloc_free(p);
    return thread.in_start;
}

// Which of the aligned forms the other malloc has.
enum class AlignedForm { none, posix_memalign, aligned_alloc, memalign };

AlignedForm aligned_form() {
    if (!is_ours(*resolved_posix_memalign))
        return AlignedForm::posix_memalign;
    if (!is_ours(*resolved_aligned_alloc))
        return AlignedForm::aligned_alloc;
    return is_ours(*resolved_memalign) ? AlignedForm::none : AlignedForm::memalign;
}

} // namespace

const char *foreign_malloc() {
    void *(*const routine)(size_t) = resolved_malloc;
    if (is_ours(*routine))
        return nullptr;
    if (is_linkage_entry(reinterpret_cast<const void *>(routine)) && leads_to_us(routine))
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
        if (is_static_process())
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

bool is_forwarded(const Request &request) {
    if (request.site)
        return false;
    if (request.align)
        return aligned_form() != AlignedForm::none;
    return !request.zero || !is_ours(*resolved_calloc);
}

bool is_realloc_forwarded() { return !is_ours(*resolved_realloc); }

void *foreign_allocate(const Request &request) {
    if (request.align > alignof(max_align_t)) {
        void *p = nullptr;
        switch (aligned_form()) {
        case AlignedForm::posix_memalign:
            if (const int error = resolved_posix_memalign(&p, request.align, request.size))
                errno = error;
            return p;
        case AlignedForm::aligned_alloc:
            return resolved_aligned_alloc(request.align, request.size);
        case AlignedForm::memalign:
            return resolved_memalign(request.align, request.size);
        case AlignedForm::none:
            errno = ENOMEM;
            return nullptr;
        }
    }
    if (!request.zero)
        return resolved_malloc(request.size);
    if (!is_ours(*resolved_calloc))
        return resolved_calloc(1, request.size);
    void *p = resolved_malloc(request.size);
    return p ? memset(p, 0, request.size) : nullptr;
}

void *foreign_reallocate(void *p, size_t size) {
    if (!is_ours(*resolved_realloc))
        return resolved_realloc(p, size);
    if (!p)
        return resolved_malloc(size);
    errno = ENOMEM; // a malloc without realloc, and nobody else knows its blocks
    return nullptr;
}

size_t foreign_usable(void *p) { return is_ours(*resolved_usable) ? 0 : resolved_usable(p); }

} // namespace tc
