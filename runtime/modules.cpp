// Annotated modules come and go; their sites get numbers and, on first use, a placement.
#include "modules.h"
#include "runtime.h"

namespace tc {
namespace {
uint32_t next_site_id = 1;
}

const char *key_of(const tc_module &module, const tc_site &site) {
    return site.key < module.table_bytes ? module.table + site.key : "";
}

uint32_t resolve(tc_site *site) {
    const uint32_t placement = placement_first_tier;
    __atomic_store_n(&site->placement, placement, __ATOMIC_RELAXED);
    return placement;
}

} // namespace tc

using namespace tc;

extern "C" void tc_module_load(tc_module *module) {
    start();
    if (module->version != TC_ABI_VERSION)
        return;
    const uint32_t first = __atomic_fetch_add(&next_site_id, module->site_count, __ATOMIC_RELAXED);
    for (uint32_t i = 0; i < module->site_count; i++)
        module->sites[i].id = first + i;
}

extern "C" void tc_module_unload(tc_module *) {}
