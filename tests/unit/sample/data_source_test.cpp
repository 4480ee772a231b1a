// Data sources as the kernel makes them of PEBS (arch/x86/events/intel/ds.c) and IBS (amd/ibs.c).
#include "check.h"
#include "sample/data_source.h"
#include <linux/perf_event.h>

using namespace tc::sample;

namespace {

uint64_t source(uint64_t operation, uint64_t level, uint64_t number = PERF_MEM_LVLNUM_NA) {
    perf_mem_data_src word{};
    word.mem_op = operation;
    word.mem_lvl = level;
    word.mem_lvl_num = number;
    return word.val;
}

void expect_access(uint64_t word, bool load, bool store, Access::Served served) {
    const Access access = read_data_source(word);
    expect_eq(access.load, load);
    expect_eq(access.store, store);
    expect_eq(access.served, served);
}

constexpr uint64_t hit = PERF_MEM_LVL_HIT, miss = PERF_MEM_LVL_MISS;

} // namespace

TEST(loads_by_level) {
    for (uint64_t level : {PERF_MEM_LVL_L1, PERF_MEM_LVL_LFB, PERF_MEM_LVL_L2, PERF_MEM_LVL_L3,
                           PERF_MEM_LVL_REM_CCE1, PERF_MEM_LVL_REM_CCE2})
        expect_access(source(PERF_MEM_OP_LOAD, level | hit), true, false, Access::by_cache);
    for (uint64_t level : {PERF_MEM_LVL_LOC_RAM, PERF_MEM_LVL_REM_RAM1, PERF_MEM_LVL_REM_RAM2})
        expect_access(source(PERF_MEM_OP_LOAD, level | hit), true, false, Access::by_memory);
    // Intel's source 0: it missed the last cache, nobody knows where it went.
    expect_access(source(PERF_MEM_OP_LOAD, PERF_MEM_LVL_L3 | miss), true, false, Access::by_memory);
}

TEST(loads_by_level_number) {
    for (uint64_t number : {PERF_MEM_LVLNUM_RAM, PERF_MEM_LVLNUM_PMEM, PERF_MEM_LVLNUM_CXL})
        expect_access(source(PERF_MEM_OP_LOAD, PERF_MEM_LVL_NA, number), true, false,
                      Access::by_memory);
    for (uint64_t number : {PERF_MEM_LVLNUM_L1, PERF_MEM_LVLNUM_L2, PERF_MEM_LVLNUM_L3,
                            PERF_MEM_LVLNUM_L4, PERF_MEM_LVLNUM_LFB, PERF_MEM_LVLNUM_ANY_CACHE})
        expect_access(source(PERF_MEM_OP_LOAD, PERF_MEM_LVL_NA, number), true, false,
                      Access::by_cache);
}

TEST(stores_that_missed_the_first_level_went_nobody_knows_where) {
    expect_access(source(PERF_MEM_OP_STORE, PERF_MEM_LVL_L1 | hit), false, true, Access::by_cache);
    expect_access(source(PERF_MEM_OP_STORE, PERF_MEM_LVL_L1 | miss), false, true, Access::unknown);
}

TEST(nothing_is_known_of_what_is_not_available) {
    const uint64_t none = source(PERF_MEM_OP_NA, PERF_MEM_LVL_NA);
    expect_access(none, false, false, Access::unknown);
    expect_access(0, false, false, Access::unknown);
}
