// A table of the few blocks with a huge alignment, in the order they came.
//
// They take whole segments from the arena of their heap, so that a tier's blocks stay in
// the tier's range; mimalloc commits and purges them as its own.
#include "huge_alignment.h"
#include "lock.h"
#include <cerrno>
#include <sys/mman.h>

namespace tc {
namespace {

struct Block {
    void *block; // null: the entry is free
    void *start;
    size_t bytes; // from start
    unsigned char memid[32];
};

Block *table;
size_t capacity;
Lock lock;

bool grow() {
    const size_t wanted = capacity ? capacity * 2 : 64;
    void *fresh = mmap(nullptr, wanted * sizeof(Block), PROT_READ | PROT_WRITE,
                       MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (fresh == MAP_FAILED)
        return false;
    if (table) {
        __builtin_memcpy(fresh, table, capacity * sizeof(Block));
        munmap(table, capacity * sizeof(Block));
    }
    table = static_cast<Block *>(fresh);
    capacity = wanted;
    return true;
}

Block *find(const void *block) {
    for (size_t i = 0; i < capacity; i++)
        if (table[i].block == block)
            return &table[i];
    return nullptr;
}

} // namespace

void *allocate_huge_alignment(mi_heap_t *heap, size_t size, size_t align) {
    size_t bytes;
    if (__builtin_add_overflow(size, align, &bytes) || bytes > SIZE_MAX / 4) {
        errno = ENOMEM;
        return nullptr;
    }
    bytes = (bytes + ALLOC_SEGMENT_BYTES - 1) & ~(ALLOC_SEGMENT_BYTES - 1);
    Block made{};
    made.bytes = bytes;
    made.start = alloc_segments(alloc_heap_arena(heap), bytes, made.memid);
    if (!made.start) {
        errno = ENOMEM;
        return nullptr;
    }
    const uintptr_t up = (reinterpret_cast<uintptr_t>(made.start) + align - 1) & ~(align - 1);
    made.block = reinterpret_cast<void *>(up);
    Guard guard(lock);
    Block *entry = find(nullptr);
    if (!entry && grow())
        entry = find(nullptr);
    if (!entry) {
        alloc_free_segments(made.start, bytes, made.memid);
        errno = ENOMEM;
        return nullptr;
    }
    *entry = made;
    return made.block;
}

void free_huge_alignment(void *p) {
    Block found;
    {
        Guard guard(lock);
        Block *entry = find(p);
        if (!entry)
            return; // not ours, and there is no one to tell
        found = *entry;
        entry->block = nullptr;
    }
    alloc_free_segments(found.start, found.bytes, found.memid);
}

size_t usable_huge_alignment(const void *p) {
    Guard guard(lock);
    const Block *entry = find(p);
    return entry ? entry->bytes - (static_cast<const char *>(entry->block) -
                                   static_cast<const char *>(entry->start))
                 : 0;
}

void lock_huge_alignment() { lock.acquire(); }
void unlock_huge_alignment() { lock.release(); }

} // namespace tc
