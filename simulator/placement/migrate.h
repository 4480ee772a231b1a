// Migration when far data is touched ("migrate"): Ryoo 2017, chapters 4.2 and 6.  All data begin in
// near memory; when that is full, the chunk around the page that was not used for the longest time
// goes far.  A demand of a far page is a fault: its chunk comes near before it goes on.  How much a
// chunk is, 4 KiB, 64 KiB or 2 MiB, is for the policies of migration/policies to say, which the
// engine of real pages has as well; here they have what user space can't see: which 4 KiB pages
// were accessed, LRU order, and each shootdown.
//
// A page's first touch is no fault in the thesis' sense: the kernel makes room for it, moving out
// what the policy says, but asks no policy how much to bring in.
//
// options: "policy"; "fault_ps" of each far touch, "operation_ps" of each chunk moved, "page_ps" of
// each 4 KiB in it, "shootdown_ps" for which every core stands still, "far_ps" once for each chunk
// that comes near; "lines"; "warm", references before which moves cost nothing.  Of history:
// "used", a share, "regions" that must agree.  Of sampling: "ratio", "sample_ps", "execution_ps".
// Of adaptive: "run" and "gone", blocks, and "again", a probability.
#pragma once
#include "migration/policies/policy.h"
#include "simulator/placement/policy.h"
#include <unordered_map>
#include <unordered_set>

namespace thermocline {

class Migrate final : public PlacementPolicy, public migration::Near {
  public:
    explicit Migrate(const PolicyContext &context); // throws ConfigError

    uint32_t tier(const Touch &touch, const Frames &frames) override;
    MigrationRules rules() const override { return rules_; }
    FaultStep fault(uint64_t page, Placement &placement, Ps now) override;
    void done(uint64_t about, Ps took) override;
    void warmed() override { counts_ = {}; }
    nlohmann::json statistics() const override;
    double not_accessed(uint64_t address, migration::Granularity) const override;

  private:
    using Granularity = migration::Granularity;
    struct Moved { // by chunks of one granularity
        uint64_t chunks = 0, pages = 0;
    };
    FaultStep bring(uint64_t page, Granularity granularity, const Placement &placement, bool fresh);
    FaultStep evict(uint64_t victim, Granularity granularity, const Placement &placement);
    uint64_t remember(const migration::Move &move);

    MigrationRules rules_;
    Ps fault_, operation_, page_, shootdown_, far_;
    std::shared_ptr<migration::Policy> policy_;
    std::unordered_set<uint64_t> fresh_;              // touched once, when near memory was full
    std::unordered_map<uint64_t, Granularity> asked_; // pages that are to come
    std::vector<migration::Move> moves_;              // by FaultStep::about
    std::vector<uint64_t> free_;
    Ps ticked_ = 0;
    const Placement *near_ = nullptr; // once something has left
    struct {                          // since what is done costs time
        uint64_t faults = 0, first_touches = 0, shootdowns = 0, unused = 0;
        Moved moved[migration::granularities][2]; // [][in]
    } counts_;
};

} // namespace thermocline
