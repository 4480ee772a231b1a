// Annotated modules come and go; their sites get numbers when they load, and a placement
// on their first use.
#include "modules.h"
#include "recording.h"
#include "runtime.h"
#include "sites.h"
#include "text.h"
#include <cstring>

namespace tc {
namespace {

// A string of the module's table, or null where the offset is not inside it.
const char *string_at(const tc_module &module, uint32_t offset) {
    if (offset >= module.table_bytes ||
        !memchr(module.table + offset, 0, module.table_bytes - offset))
        return nullptr;
    return module.table + offset;
}

} // namespace

uint32_t resolve(tc_site *site) {
    if (state.config.heap == HeapMode::plain) {
        __atomic_store_n(&site->placement, uint32_t(placement_first_class), __ATOMIC_RELAXED);
        return placement_first_class;
    }
    SiteRecord *record = site_record(site->id);
    if (!record)
        return placement_of(static_cast<uint32_t>(state.config.default_tier));
    record->reached = true;
    __atomic_store_n(&site->placement, record->placement, __ATOMIC_RELAXED);
    return record->placement;
}

} // namespace tc

using namespace tc;

extern "C" void tc_module_load(tc_module *module) {
    if (!start())
        return;
    if (state.config.heap == HeapMode::plain && !state.config.trace)
        return; // nobody asks for numbers
    if (module->version != TC_ABI_VERSION)
        return complain("a module was linked by another version of thermocline, and what it "
                        "allocates counts as unannotated: link it again");
    for (uint32_t i = 0; i < module->site_count; i++) {
        const char *key = string_at(*module, module->sites[i].key);
        const char *routine = string_at(*module, module->sites[i].routine);
        if (key)
            module->sites[i].id = intern_site(key, routine ? routine : "");
    }
    if (state.config.trace)
        trace_patch_module(module);
}

extern "C" void tc_module_unload(tc_module *module) {
    // Of the sites nothing is left to do: their keys are copied.  But a longjmp out of a call
    // that carried one leaves it carried.
    const tc_site *carried = thread.carried;
    if (carried >= module->sites && carried < module->sites + module->site_count)
        tc_carry(nullptr);
    if (start() && state.config.trace)
        trace_forget_module(module);
}
