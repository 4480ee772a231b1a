// Numbers of regions -> values, in memory from mmap: open addressing, doubled when half full.  A
// new key's value is all zeros.  Without memory, get() gives a value that is forgotten.
#pragma once
#include <cstdint>
#include <sys/mman.h>

namespace thermocline::migration {

template <typename Value> class RegionMap {
  public:
    RegionMap() = default;
    RegionMap(const RegionMap &) = delete;
    RegionMap &operator=(const RegionMap &) = delete;
    ~RegionMap() { clear(); }

    Value &get(uint64_t region) {
        if ((used_ + 1) * 2 > size_ && !grow())
            return lost_ = Value{};
        Entry &entry = slot(region);
        if (entry.key == 0) {
            entry.key = region + 1;
            used_++;
        }
        return entry.value;
    }

    // Null: not there.
    const Value *find(uint64_t region) const {
        if (size_ == 0)
            return nullptr;
        const Entry &entry = slot(region);
        return entry.key ? &entry.value : nullptr;
    }

    void clear() {
        if (entries_)
            munmap(entries_, size_ * sizeof(Entry));
        entries_ = nullptr;
        size_ = used_ = 0;
    }

  private:
    struct Entry {
        uint64_t key; // region + 1; 0: free
        Value value;
    };

    Entry &slot(uint64_t region) const {
        uint64_t at = (region * 0x9e3779b97f4a7c15 >> 20) & (size_ - 1);
        while (entries_[at].key != 0 && entries_[at].key != region + 1)
            at = (at + 1) & (size_ - 1);
        return entries_[at];
    }

    bool grow() {
        const uint64_t size = size_ ? size_ * 2 : 4096;
        // Shared, so that it never becomes part of a private mapping beside it, which the engine
        // would watch and then wait for itself.
        void *const memory = mmap(nullptr, size * sizeof(Entry), PROT_READ | PROT_WRITE,
                                  MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        if (memory == MAP_FAILED)
            return false;
        Entry *const old = entries_;
        const uint64_t count = size_;
        entries_ = static_cast<Entry *>(memory);
        size_ = size;
        for (uint64_t at = 0; at < count; at++)
            if (old[at].key)
                slot(old[at].key - 1) = old[at];
        if (old)
            munmap(old, count * sizeof(Entry));
        return true;
    }

    Entry *entries_ = nullptr;
    uint64_t size_ = 0, used_ = 0;
    Value lost_{};
};

} // namespace thermocline::migration
