// See data_source.h.
#include "data_source.h"
#include <linux/perf_event.h>

namespace tc::sample {
namespace {

constexpr uint64_t ram = PERF_MEM_LVL_LOC_RAM | PERF_MEM_LVL_REM_RAM1 | PERF_MEM_LVL_REM_RAM2;
constexpr uint64_t caches = PERF_MEM_LVL_L1 | PERF_MEM_LVL_LFB | PERF_MEM_LVL_L2 | PERF_MEM_LVL_L3 |
                            PERF_MEM_LVL_REM_CCE1 | PERF_MEM_LVL_REM_CCE2;

Access::Served by_number(uint64_t number) {
    switch (number) {
    case PERF_MEM_LVLNUM_L1:
    case PERF_MEM_LVLNUM_L2:
    case PERF_MEM_LVLNUM_L3:
    case PERF_MEM_LVLNUM_L4:
    case PERF_MEM_LVLNUM_ANY_CACHE:
    case PERF_MEM_LVLNUM_LFB:
        return Access::by_cache;
    case PERF_MEM_LVLNUM_CXL:
    case PERF_MEM_LVLNUM_RAM:
    case PERF_MEM_LVLNUM_PMEM:
        return Access::by_memory;
    default:
        return Access::unknown;
    }
}

} // namespace

Access read_data_source(uint64_t word) {
    const perf_mem_data_src source{.val = word};
    Access access{(source.mem_op & PERF_MEM_OP_LOAD) != 0, (source.mem_op & PERF_MEM_OP_STORE) != 0,
                  Access::unknown};
    const bool missed = source.mem_lvl & PERF_MEM_LVL_MISS;
    if (source.mem_lvl & ram && !missed)
        access.served = Access::by_memory;
    else if (missed && source.mem_lvl & PERF_MEM_LVL_L3) // Intel's "missed, source unknown"
        access.served = Access::by_memory;
    else if (source.mem_lvl & caches && !missed)
        access.served = Access::by_cache;
    else if (!missed)
        access.served = by_number(source.mem_lvl_num);
    return access;
}

} // namespace tc::sample
