// See page_table.h.
#include "page_table.h"
#include "own_memory.h"
#include <cstring>
#include <sys/mman.h>

namespace tc {

bool PageTable::prepare() {
    constexpr size_t numbers = size_t(max_regions) * region_pages * sizeof(uint32_t);
    const auto map = [](size_t bytes) { return static_cast<uint32_t *>(own_memory_map(bytes)); };
    index_ = map((uint64_t(1) << 47) / region_bytes * sizeof(uint32_t));
    regions_ = static_cast<Region *>(own_memory_map(max_regions * sizeof(Region)));
    next_ = map(numbers);
    before_ = map(numbers);
    checksums_ = map(numbers);
    if (!index_ || !regions_ || !next_ || !before_ || !checksums_)
        return false;
    // Aligned like regions, so that a huge page can move whole.
    const size_t bytes = size_t(max_regions + 1) * region_bytes;
    void *const range = mmap(nullptr, bytes, PROT_READ | PROT_WRITE,
                             MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (range == MAP_FAILED)
        return false;
    // A child gets the data of its own addresses from the engine (events.cpp), and none of these.
    madvise(range, bytes, MADV_DONTFORK);
    madvise(range, bytes, MADV_DONTDUMP);
    mapped_from_ = reinterpret_cast<uint64_t>(range);
    mapped_to_ = mapped_from_ + bytes;
    shadow_ = (reinterpret_cast<uint64_t>(range) + region_bytes - 1) & ~(region_bytes - 1);
    return true;
}

Region *PageTable::make(uint64_t address) {
    if (address >> 47)
        return nullptr;
    uint32_t &at = index_[address / region_bytes];
    if (at == 0) {
        if (free_ != 0) {
            at = free_;
            free_ = uint32_t(regions_[at].managed.words[0]);
        } else if (end_ < max_regions) {
            at = end_++;
        } else {
            return nullptr;
        }
        memset(&regions_[at], 0, sizeof(Region));
        regions_[at].base = address & ~(region_bytes - 1);
    }
    return &regions_[at];
}

void PageTable::release(Region *region) {
    const uint32_t at = uint32_t(region - regions_);
    index_[region->base / region_bytes] = 0;
    memset(region, 0, sizeof *region);
    region->managed.words[0] = free_;
    free_ = at;
}

void PageTable::append(Queue &queue, uint32_t number) {
    next_[number] = 0;
    before_[number] = queue.last;
    (queue.last ? next_[queue.last] : queue.first) = number;
    queue.last = number;
    queue.count++;
}

void PageTable::take(Queue &queue, uint32_t number) {
    const uint32_t next = next_[number], before = before_[number];
    (before ? next_[before] : queue.first) = next;
    (next ? before_[next] : queue.last) = before;
    queue.count--;
}

} // namespace tc
