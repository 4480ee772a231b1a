// One granularity for all: Ryoo 2017, section 6.1, the baseline (4 KiB) and its static rivals.
#pragma once
#include "migration/policies/policy.h"

namespace thermocline::migration {

class Fixed final : public Policy {
  public:
    explicit Fixed(Granularity granularity) : granularity_(granularity) {}
    Granularity move_in(uint64_t) override { return granularity_; }
    Granularity move_out(uint64_t, const Near &) override { return granularity_; }
    Granularity current(uint64_t) const override { return granularity_; }
    bool asks_for_accesses() const override { return false; }

  private:
    const Granularity granularity_;
};

} // namespace thermocline::migration
