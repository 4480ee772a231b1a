// See nonheap.h.
#include "nonheap.h"
#include "allocator.h"
#include "own_memory.h"
#include "page_scan.h"
#include "site_heap_thread.h"
#include <cstring>
#include <fcntl.h>
#include <unistd.h>

// Absent where the profiling heap is tested by itself.
extern "C" [[gnu::weak]] bool alloc_owns(const void *);

namespace {

// In a profiled run the program's blocks are all in the profiling heap: what the allocator below
// has is the library's own.
uint64_t programs_resident_bytes(int pagemap, uintptr_t from, uintptr_t to) {
    uint64_t sum = 0;
    for (uintptr_t at = from, start = from; at < to;) {
        const uintptr_t next = (at & ~uintptr_t(ALLOC_SEGMENT_BYTES - 1)) + ALLOC_SEGMENT_BYTES;
        const uintptr_t end = next < to ? next : to;
        const bool own = alloc_owns && alloc_owns(reinterpret_cast<void *>(at));
        if (own || end == to)
            sum += resident_bytes(pagemap, start, own ? at : end);
        if (own)
            start = end;
        at = end;
    }
    return sum;
}

struct Mapping {
    uintptr_t from, to;
    char permissions[4];
    const char *name; // "" if anonymous
};

const char *parse_hex(const char *p, uintptr_t &value) {
    value = 0;
    for (;; ++p) {
        unsigned digit;
        if (*p >= '0' && *p <= '9')
            digit = unsigned(*p - '0');
        else if (*p >= 'a' && *p <= 'f')
            digit = unsigned(*p - 'a') + 10;
        else
            return p;
        value = value << 4 | digit;
    }
}

// "from-to perms offset dev inode   name"
bool parse(const char *line, Mapping &mapping) {
    const char *p = parse_hex(line, mapping.from);
    if (*p++ != '-')
        return false;
    p = parse_hex(p, mapping.to);
    if (*p++ != ' ' || strlen(p) < 4)
        return false;
    memcpy(mapping.permissions, p, 4);
    for (int fields = 0; fields < 4; ++fields) {
        p = strchr(p, ' ');
        if (!p)
            return false;
        while (*p == ' ')
            ++p;
    }
    mapping.name = p;
    return true;
}

bool holds_a_stack(const Mapping &mapping) {
    for (ThreadHeap *heap = first_site_heap(); heap; heap = heap->next_heap) {
        uintptr_t frame = heap->stack_frame.load(std::memory_order_relaxed);
        if (frame >= mapping.from && frame < mapping.to)
            return true;
    }
    return false;
}

// Tells the kinds of mappings apart; they come in ascending order.
class Kinds {
  public:
    // False: to be left out.
    bool tell(const Mapping &mapping, MappingKind &kind) {
        bool follows_globals = mapping.from == globals_end;
        globals_end = 0;
        bool follows_ours = mapping.from == ours_end;
        ours_end = 0;
        if (site_heap_contains(reinterpret_cast<void *>(mapping.from)))
            return false;
        bool file = mapping.name[0] == '/' && strncmp(mapping.name, "/dev/", 5) != 0;
        if ((file && strstr(mapping.name, "/libthermocline.so")) ||
            (follows_ours && !mapping.name[0])) { // the library, and its .bss
            ours_end = mapping.to;
            return false;
        }
        if (file && mapping.permissions[3] == 'p')
            globals_end = mapping.to; // what follows without a name is the module's .bss
        if (mapping.permissions[0] != 'r' || mapping.permissions[2] == 'x' ||
            !strncmp(mapping.name, "[v", 2) ||
            !strncmp(mapping.name, "anon_inode:[perf_event]", 23)) // our samplers' rings
            return false;
        kind = !strncmp(mapping.name, "[stack", 6)                    ? MappingKind::stack
               : globals_end || (follows_globals && !mapping.name[0]) ? MappingKind::globals
               : holds_a_stack(mapping)                               ? MappingKind::stack
                                                                      : MappingKind::other;
        return true;
    }

  private:
    uintptr_t globals_end = 0, ours_end = 0;
};

struct Sums {
    int pagemap;
    NonHeapBytes bytes;
};

void add(void *context, uintptr_t from, uintptr_t to, MappingKind kind) {
    auto *sums = static_cast<Sums *>(context);
    uint64_t &sum = kind == MappingKind::stack     ? sums->bytes.stack
                    : kind == MappingKind::globals ? sums->bytes.globals
                                                   : sums->bytes.other;
    // The kernel may have merged our own memory with what lies beside it.
    OwnMemory own = own_memory();
    uintptr_t own_from = own.from > from ? own.from : from;
    uintptr_t own_to = own.to < to ? own.to : to;
    if (own_from >= own_to)
        own_from = own_to = to;
    sum += programs_resident_bytes(sums->pagemap, from, own_from) +
           programs_resident_bytes(sums->pagemap, own_to, to);
}

} // namespace

bool nonheap_mappings(void (*each)(void *, uintptr_t, uintptr_t, MappingKind), void *context) {
    int maps = open("/proc/self/maps", O_RDONLY | O_CLOEXEC);
    if (maps < 0)
        return false;
    Kinds kinds;
    char text[8192];
    size_t filled = 0;
    for (ssize_t got; (got = read(maps, text + filled, sizeof text - 1 - filled)) > 0;) {
        filled += size_t(got);
        text[filled] = 0;
        char *line = text;
        while (char *end = strchr(line, '\n')) {
            *end = 0;
            Mapping mapping;
            MappingKind kind;
            if (parse(line, mapping) && kinds.tell(mapping, kind))
                each(context, mapping.from, mapping.to, kind);
            line = end + 1;
        }
        filled -= size_t(line - text);
        memmove(text, line, filled);
    }
    close(maps);
    return true;
}

NonHeapBytes nonheap_resident(int pagemap) {
    Sums sums{pagemap, {}};
    nonheap_mappings(add, &sums);
    return sums.bytes;
}
