// The page table: where each page of the program is, given out at its first touch.  A page whose
// tier is full goes to the next slower tier that has room, else to a faster one, as the kernel
// falls back; without any room the run can't go on.
#pragma once
#include "simulator/placement/policy.h"
#include <memory>
#include <vector>

namespace thermocline {

struct PlacementStatistics {
    std::vector<uint64_t> pages; // of each tier
    std::vector<uint64_t>
        spilled; // pages that the policy wanted in the tier and that are not there
};

class Placement {
  public:
    Placement(const FramesConfig &frames, std::unique_ptr<PlacementPolicy> policy);

    // Where an address is; its page is placed if this is its first touch.
    Place find(uint64_t address, uint32_t owner, uint32_t thread, uint32_t socket) {
        const uint64_t page = address / page_bytes;
        size_t at = home(page);
        while (table_[at].page != page + 1) {
            if (table_[at].page == 0) {
                at = insert({page, owner, thread, socket});
                break;
            }
            at = (at + 1) & (table_.size() - 1);
        }
        return {table_[at].node, table_[at].frame + address % page_bytes};
    }

    // The address will be asked for soon: for the host's caches.
    void expect(uint64_t address) const { __builtin_prefetch(&table_[home(address / page_bytes)]); }

    const PlacementStatistics &statistics() const { return statistics_; }

  private:
    struct Entry {
        uint64_t page = 0; // its number + 1; 0: free
        uint64_t frame : 56 = 0;
        uint64_t node : 8 = 0;
    };
    size_t home(uint64_t page) const {
        return size_t(page * 0x9e3779b97f4a7c15 >> 20) & (table_.size() - 1);
    }
    size_t insert(const Touch &touch);
    void grow();

    Frames frames_;
    std::unique_ptr<PlacementPolicy> policy_;
    std::vector<Entry> table_; // open addressing, at most half full
    size_t used_ = 0;
    uint32_t sockets_;
    PlacementStatistics statistics_;
};

} // namespace thermocline
