// The page table: where each page of the program is, given out at its first touch.  A page whose
// tier is full goes to the next slower tier that has room, else to a faster one, as the kernel
// falls back; without any room the run can't go on.
//
// Under a policy that migrates it also counts accesses, and pages change frames: begin() takes an
// operation's frames and marks its pages busy, finish() makes the new frames theirs.
#pragma once
#include "simulator/placement/policy.h"
#include <functional>
#include <optional>
#include <queue>
#include <unordered_map>
#include <vector>

namespace thermocline {

struct PlacementStatistics {
    std::vector<uint64_t> pages; // of each tier
    std::vector<uint64_t> most;  // at a time
    std::vector<uint64_t>
        spilled; // pages that the policy wanted in the tier and that are not there
};

// What an operation copies: a page to a free frame, or two pages into each other's.
struct PageCopy {
    static constexpr uint64_t no_page = UINT64_MAX;
    uint64_t page = 0, other = no_page;
    Place from, to;
    uint32_t owner = 0, other_owner = 0;
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
    void expect(uint64_t address) const {
        const size_t at = home(address / page_bytes);
        __builtin_prefetch(&table_[at]);
        if (migrates())
            __builtin_prefetch(&uses_[at]);
    }

    // The program gave the memory back: whole pages' next touch is a first touch again, but for
    // those that are being moved, which keep their frames.
    void give_back(uint64_t address, uint64_t bytes);
    bool touched(uint64_t address) const { return table_[slot(address / page_bytes)].page != 0; }
    // Where a line that the caches write back goes: the frame that its page had when it was given
    // back, if it has none.
    Place home_of_written(uint64_t address, uint32_t owner, uint32_t thread, uint32_t socket) {
        if (!given_back_.empty() && !touched(address)) [[unlikely]]
            if (const auto found = given_back_.find(address / page_bytes);
                found != given_back_.end())
                return {found->second.node, found->second.address + address % page_bytes};
        return find(address, owner, thread, socket);
    }

    // --- Migration. ---
    bool migrates() const { return rules_.epoch != 0 || rules_.threshold != 0 || rules_.faults; }
    const MigrationRules &rules() const { return rules_; }

    // Where a line of a page that has been touched is now; whether the page is being moved.
    struct Where {
        Place place;
        bool busy;
    };
    Where look(uint64_t address) const { return where(slot(address / page_bytes), address); }
    // The same; the access counts.
    Where count(uint64_t address) {
        const uint64_t page = address / page_bytes;
        const size_t at = slot(page);
        Use &use = uses_[at];
        use.last = ++clock_;
        if (!use.listed && rules_.epoch != 0) {
            use.listed = 1;
            accessed_.push_back(page);
        }
        if (++use.accesses == rules_.threshold && table_[at].node >= sockets_)
            reached_.push_back(page);
        return where(at, address);
    }
    bool reached() const { return !reached_.empty(); } // the threshold, by pages not asked yet
    std::vector<Operation> ask_reached();
    std::vector<Operation> end_epoch(); // counts begin again

    // Nothing happens and false is returned if a page is busy, if there is no room, or if all are
    // where they should be.
    bool begin(const Operation &operation, std::vector<PageCopy> &copies);
    void finish(const std::vector<PageCopy> &copies);

    // Of policies with faults.
    FaultStep fault(uint64_t page, Ps now) { return policy_->fault(page, *this, now); }
    void warmed() { policy_->warmed(); }
    void done(uint64_t about, Ps took) { policy_->done(about, took); }
    nlohmann::json policy_statistics() const;
    // The page of tier 0 that was not accessed for the longest time, but for those from `first`
    // up to `end` and those that are being moved.
    std::optional<uint64_t> oldest(uint64_t first, uint64_t end);

    // For policies; in no order that means anything, the same in each run.
    std::optional<PageUse> use(uint64_t page) const;
    std::vector<PageUse> accessed() const; // in this epoch
    std::vector<PageUse> uses(uint32_t tier) const;
    const Frames &frames() const { return frames_; }
    uint64_t pages() const { return used_; }

    // Is told the address of each page that loses its frame, which TLBs have to forget.
    void on_unmap(std::function<void(uint64_t address)> tell) { unmapped_ = std::move(tell); }

    const PlacementStatistics &statistics() const { return statistics_; }

  private:
    struct Entry {
        uint64_t page = 0; // its number + 1; 0: free
        uint64_t frame : 55 = 0;
        uint64_t busy : 1 = 0;
        uint64_t node : 8 = 0;
    };
    struct Use {
        uint64_t last = 0; // access, or arrival in its tier, by a count of both
        uint32_t accesses = 0;
        uint32_t owner : 30 = 0;
        uint32_t listed : 1 = 0; // in accessed_
        uint32_t queued : 1 = 0; // in by_age_
    };
    struct Age {
        uint64_t last, page;
        bool operator>(const Age &other) const { return last > other.last; }
    };
    uint32_t socket_for(const Touch &touch) {
        if (socket_ == in_turn) // policies deal pages to tiers in turn: a round to each socket
            return uint32_t(turn_++ / frames_.tiers() % sockets_);
        return socket_ == toucher ? policy_->socket(touch, sockets_) : socket_;
    }
    size_t home(uint64_t page) const {
        return size_t(page * 0x9e3779b97f4a7c15 >> 20) & (table_.size() - 1);
    }
    // Of the page, or of the free entry where it would be.
    size_t slot(uint64_t page) const {
        size_t at = home(page);
        while (table_[at].page != page + 1 && table_[at].page != 0)
            at = (at + 1) & (table_.size() - 1);
        return at;
    }
    Where where(size_t at, uint64_t address) const {
        const Entry &entry = table_[at];
        return {{entry.node, entry.frame + address % page_bytes}, entry.busy != 0};
    }
    void resides(uint32_t tier) {
        statistics_.most[tier] = std::max(statistics_.most[tier], ++statistics_.pages[tier]);
    }
    PageUse use_of(size_t at) const {
        return {table_[at].page - 1, table_[at].node / sockets_, uses_[at].owner,
                uses_[at].accesses, table_[at].busy != 0};
    }
    size_t accessed_slot(size_t number) const;
    void arrived(size_t at);
    size_t insert(const Touch &touch);
    void grow();
    void remove(size_t at);
    void settle(uint64_t page, const Place &place);
    bool take_frames(std::vector<PageCopy> &copies, const std::vector<uint32_t> &tiers);

    void unmapped(uint64_t page) const {
        if (unmapped_)
            unmapped_(page * page_bytes);
    }

    Frames frames_;
    std::unique_ptr<PlacementPolicy> policy_;
    std::function<void(uint64_t)> unmapped_;
    MigrationRules rules_;
    std::vector<Entry> table_; // open addressing, at most half full
    std::vector<Use> uses_;    // beside it, if pages migrate
    std::vector<uint64_t> reached_, accessed_;
    uint64_t clock_ = 0;
    // Pages of tier 0, each with an age that it had once: no less than its age now.
    std::priority_queue<Age, std::vector<Age>, std::greater<>> by_age_;
    std::unordered_map<uint64_t, Place> given_back_; // pages that are not in the table: the last
    size_t used_ = 0;
    uint32_t sockets_, socket_; // whose memory is taken: see frames.h
    uint64_t turn_ = 0;
    PlacementStatistics statistics_;
};

} // namespace thermocline
