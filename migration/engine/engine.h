// The engine: one thread that answers page faults on far data, moves data out ahead of need and
// follows what the program does to its mappings (docs/migration.md).
//
// Everything here runs in that thread under `lock`, but for what says otherwise.  It must never
// touch memory that it watches: no malloc, nothing on the program's heap.
#pragma once
#include "back_end.h"
#include "following.h"
#include "lock.h"
#include "migration/policies/policy.h"
#include "migration/policies/region_map.h"
#include "page_table.h"
#include "planned.h"
#include "settings.h"
#include "strides.h"
#include "userfault.h"
#include <atomic>

namespace tc {

using thermocline::migration::Granularity;

struct MigrateCounts {
    uint64_t faults, soft_faults, first_touches, other_faults;
    uint64_t moves_in[3], pages_in[3], moves_out[3], pages_out[3]; // by granularity
    uint64_t evictions;                                            // victims that were put aside
    uint64_t unmovable; // pages that the kernel would not move, each try
    uint64_t copied_in; // pages that came in by COPY, for MOVE did not work
    uint64_t forks, fork_pages, remaps;
    uint64_t prefetches, prefetched_pages; // moves that no fault asked for
    uint64_t peak_held, visits; // pages that a plan keeps near; faults on what it keeps far
    uint64_t found;             // pages in their shadow that should not be there
    uint64_t lost_pages;        // of an mremap beside another change of mappings
    uint64_t checked, corrupt;  // pages, in checker mode
    uint64_t peak_near, peak_managed, overshoot; // pages
    uint64_t unmanaged_bytes, managed_bytes, refused_mappings;
};

struct Mapping { // a line of /proc/self/maps
    uint64_t from, to;
    const char *permissions, *name;
    bool file;
};

class Engine final : public thermocline::migration::Near {
  public:
    explicit Engine(const MigrateSettings &settings) : settings(settings) {}

    bool prepare(); // false: no address space
    void run();     // the thread; never returns

    double not_accessed(uint64_t address, Granularity) const override;

    // From the program's threads.
    void before_fork();
    void after_fork_in_parent();
    void pin(uint64_t from, uint64_t to); // these pages stay once they are near
    bool write_report();

    const MigrateSettings &settings;
    uint64_t gate = 0; // an address that a child must read before it goes on

  private:
    struct Span { // pages of one region
        uint32_t first, end;
    };
    // Every run of pages in the span for which `choose(page)` holds: use(first, end).
    template <typename Choose, typename Use>
    static void runs(Span span, const Choose &choose, const Use &use) {
        for (uint32_t page = span.first; page < span.end; page++) {
            if (!choose(page))
                continue;
            uint32_t end = page + 1;
            while (end < span.end && choose(end))
                end++;
            use(page, end);
            page = end;
        }
    }
    static Span chunk(uint64_t address, Granularity granularity) {
        const uint32_t page = uint32_t(address / page_bytes % region_pages);
        const uint32_t pages = thermocline::migration::pages_of(granularity);
        const uint32_t first = page & ~(pages - 1);
        return {first, first + pages};
    }
    uint64_t near_pages() const { return active.count + limbo.count + held.count + visiting.count; }
    // What a plan keeps far is near for as long as a few others of its kind are not touched.
    uint64_t visitors() const { return limit / 64; }
    static bool only_visits(const Region &region) {
        return planned_place(region.base) == Planned::far;
    }
    Queue &queue_of(const Region &region, uint32_t page) {
        return region.limbo.has(page)  ? limbo
               : region.held.has(page) ? held
               : only_visits(region)   ? visiting
                                       : active;
    }

    // --- mover.cpp: between a page's place and its shadow. ---
    enum class Moved { yes, no, changing };
    Moved put_aside(Region &, uint32_t page, uint32_t end); // sets the bits of those that went
    void bring(Region &, uint32_t page, uint32_t end);
    bool bring_copy(Region &, uint32_t page);
    void zero_fill(uint64_t address, uint64_t bytes);
    void discard(uint64_t shadow, uint64_t bytes);
    void stand(Region &, uint32_t page, bool in_limbo);
    void leave_queue(Region &, uint32_t page);
    bool break_sharing(uint64_t address);
    bool is_in_shadow(const Region &, uint32_t page) const;
    void find_strays(Region &);
    uint32_t checksum_of(uint64_t shadow) const;

    // --- replacement.cpp ---
    bool make_room(uint64_t pages);
    bool deactivate();
    bool demote();
    void go_far(Region &, uint32_t page, uint32_t end, bool first);
    void send_home();
    bool is_pinned(uint64_t address) const;

    // --- faults.cpp ---
    void fault(uint64_t address);
    void fault_far(Region &, uint64_t address);
    uint32_t come_near(Region &, uint32_t touched, Granularity);
    uint32_t prefetch();
    void fault_soft(Region &, uint64_t address);
    void first_touch(Region &, uint64_t address);

    // --- events.cpp, remaps.cpp ---
    void events(); // reads all messages: what mappings do first, then faults
    void change(const uffd_msg &);
    void let_mappings_change();
    void removed(uint64_t from, uint64_t to, bool unmapped);
    void forget(uint64_t from, uint64_t to, bool unmapped);
    void remapped(uint64_t from, uint64_t to, uint64_t bytes);
    void rename_page(uint64_t from, uint64_t to);
    void settle();
    bool follow(Follower &);
    void place_taken(uint64_t place, bool there);
    void left_shadow(uint64_t shadow, uint64_t bytes);
    bool is_changing();
    void forked(int child);
    bool give(const Userfault &child, uint64_t place, uint64_t shadow, uint64_t bytes);
    void drop_copies();

    // --- mappings.cpp ---
    void look_at_mappings();
    bool is_ours(const Mapping &) const;
    bool is_news(const Mapping &) const;
    void take_in(uint64_t from, uint64_t to);
    bool take_in_page(uint64_t address, bool there);
    void pin_threads();
    bool overlaps_own(uint64_t from, uint64_t to) const;
    uint64_t anonymous_pages();

    // --- engine.cpp ---
    void wait_roomy();
    void enter_limited();
    void look_for_news(uint64_t now);
    void ahead_of_need();
    void checkpoint(uint64_t now);

    unsigned refused_looks = 0; // in a row
    Following following;
    Strides strides;
    Strides::Ahead ahead{}; // of the last fault: yet to come
    Lock lock;
    Userfault userfault;
    PageTable table;
    Queue active, limbo, held, visiting;
    BackEnd *back_end = nullptr;
    thermocline::migration::Policy *policy = nullptr;
    thermocline::migration::RegionMap<PageSet> pinned;
    MigrateCounts counts{};
    uint64_t limit = 0, spare = 0; // pages: near memory, and what is kept free of it
    uint64_t far_pages = 0, copied_pages = 0;
    uint64_t random = 88172645463325252;
    int status_file = -1;
    bool limited = false;
    int why_not = 0; // errno of userfaultfd
    std::atomic<int> forking{0};
    char *zeros = nullptr;
    char *text = nullptr; // for /proc
    uint64_t unmanaged_pages = 0, looked_at = 0, counted_at = 0, reported_at = 0, started = 0;
};

} // namespace tc
