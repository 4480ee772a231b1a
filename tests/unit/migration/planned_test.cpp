// What a plan says of an address.
#include "check.h"
#include "migration/engine/planned.h"

using namespace tc;

extern "C" void tc_migrate_tiers(uint64_t start, unsigned shift, unsigned tiers);

TEST(the_first_tier_is_near_and_the_last_far) {
    constexpr uint64_t start = uint64_t(5) << 40, range = uint64_t(1) << 30;
    expect_eq(planned_place(start), Planned::nothing); // nobody has said anything
    tc_migrate_tiers(start, 30, 3);
    expect_eq(planned_place(start - 1), Planned::nothing);
    expect_eq(planned_place(start), Planned::near);
    expect_eq(planned_place(start + range - 1), Planned::near);
    expect_eq(planned_place(start + range), Planned::nothing);
    expect_eq(planned_place(start + 2 * range - 1), Planned::nothing);
    expect_eq(planned_place(start + 2 * range), Planned::far);
    expect_eq(planned_place(start + 3 * range - 1), Planned::far);
    expect_eq(planned_place(start + 3 * range), Planned::nothing);
    expect_eq(planned_place(0), Planned::nothing);
    expect_eq(planned_place(UINT64_MAX), Planned::nothing);
}
