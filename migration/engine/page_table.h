// What the engine knows of each 4 KiB page, by regions of 2 MiB, and the two queues that pages
// that are near stand in.
//
//   managed  in a mapping that the engine watches
//   mapped   in place: the program reaches it without the engine
//   aside    in the region's shadow: touching it faults
//   far      aside, and in far memory; aside and not far is near, with a soft fault to come
//   probe    aside since it moved in, to tell whether it is used (not accessed so far)
//   probed   was set aside so
//   limbo    in the queue of those that leave next
//   held     in the queue of those that a plan keeps near
//   copied   in place and still in the shadow: a fork is going on
#pragma once
#include <cstddef>
#include <cstdint>

namespace tc {

constexpr uint64_t page_bytes = 4096, region_bytes = uint64_t(1) << 21;
constexpr uint32_t region_pages = 512;

struct PageSet {
    uint64_t words[region_pages / 64];
    bool has(uint32_t page) const { return words[page / 64] >> (page & 63) & 1; }
    void put(uint32_t page) { words[page / 64] |= uint64_t(1) << (page & 63); }
    void drop(uint32_t page) { words[page / 64] &= ~(uint64_t(1) << (page & 63)); }
    bool empty() const {
        uint64_t any = 0;
        for (uint64_t word : words)
            any |= word;
        return any == 0;
    }
};

struct Region {
    uint64_t base; // 0: free
    PageSet managed, mapped, aside, far, probe, probed, limbo, held, copied;
    PageSet outgoing; // in its shadow, and bound for elsewhere (following.h)
};

// First in, first out, of pages' numbers; a page is in one of them at most.
struct Queue {
    uint32_t first = 0, last = 0;
    uint64_t count = 0;
};

class PageTable {
  public:
    static constexpr uint32_t max_regions = 1 << 18; // 512 GiB

    bool prepare(); // false: no address space

    Region *find(uint64_t address) const {
        const uint32_t at = address >> 47 ? 0 : index_[address / region_bytes];
        return at ? &regions_[at] : nullptr;
    }
    Region *make(uint64_t address); // null: too many
    void release(Region *);         // nothing of it is managed any more, its shadow is empty
    uint32_t end() const { return end_; }
    Region &at(uint32_t number) { return regions_[number]; } // 1 to end() - 1; base 0: none

    uint64_t shadow(const Region &region, uint32_t page) const {
        return shadow_ + uint64_t(&region - regions_) * region_bytes + page * page_bytes;
    }
    Region &region_of_shadow(uint64_t shadow) {
        return regions_[(shadow - shadow_) / region_bytes];
    }
    uint64_t shadow_from() const { return shadow_; }
    uint64_t shadow_to() const { return shadow_ + max_regions * region_bytes; }

    // The whole mapping that shadows are in, which is somewhat larger.
    uint64_t mapped_from() const { return mapped_from_; }
    uint64_t mapped_to() const { return mapped_to_; }

    // Queues: a page's number is its region's and its place in it.
    uint32_t number(const Region &region, uint32_t page) const {
        return uint32_t(&region - regions_) * region_pages + page;
    }
    Region &region_of(uint32_t number) { return regions_[number / region_pages]; }
    void append(Queue &, uint32_t number);
    void take(Queue &, uint32_t number);

    uint32_t &checksum(uint32_t number) { return checksums_[number]; }

  private:
    uint32_t *index_ = nullptr; // by address / region_bytes
    Region *regions_ = nullptr;
    uint32_t *next_ = nullptr, *before_ = nullptr, *checksums_ = nullptr;
    uint32_t end_ = 1, free_ = 0; // free regions are linked by managed.words[0]
    uint64_t shadow_ = 0, mapped_from_ = 0, mapped_to_ = 0;
};

} // namespace tc
