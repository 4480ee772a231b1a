// Sends a module's functions to their recording twins, by a jump over their first bytes.
#include "owners.h"
#include "recorder.h"
#include "twin_work.h"
#include "unseen.h"
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

namespace tc {

static constexpr unsigned jump_bytes = 5;

static void *address_of(const int32_t &offset) {
    return reinterpret_cast<void *>(reinterpret_cast<uintptr_t>(&offset) + intptr_t(offset));
}

// Behind a landing pad of indirect branches, which has to stay.
static unsigned char *entry_of(const tc_twin &twin) {
    static const unsigned char endbr64[] = {0xf3, 0x0f, 0x1e, 0xfa};
    auto *entry = static_cast<unsigned char *>(address_of(twin.plain));
    return memcmp(entry, endbr64, sizeof endbr64) == 0 ? entry + sizeof endbr64 : entry;
}

void trace_patch_module(tc_module *module) {
    if (!model.levels || !module->twin_count)
        return;
    trace_add_module(module);
    owners_find_globals();
    trace_watch_functions(module);
    uintptr_t low = UINTPTR_MAX, high = 0;
    for (uint64_t i = 0; i < module->twin_count; i++) {
        uintptr_t entry = reinterpret_cast<uintptr_t>(entry_of(module->twins[i]));
        low = entry < low ? entry : low;
        high = entry + jump_bytes > high ? entry + jump_bytes : high;
    }
    uintptr_t page = uintptr_t(sysconf(_SC_PAGESIZE));
    low &= ~(page - 1);
    high = (high + page - 1) & ~(page - 1);
    void *text = reinterpret_cast<void *>(low);
    // Executable all the while: in a static program our own code is on these pages.
    if (mprotect(text, high - low, PROT_READ | PROT_WRITE | PROT_EXEC) != 0) {
        dprintf(2, "thermocline: the system forbids changing code (%s): %s is not recorded\n",
                strerrorname_np(errno), module->table);
        return;
    }
    uintptr_t first = UINTPTR_MAX;
    for (uint64_t i = 0; i < module->twin_count; i++) {
        unsigned char *entry = entry_of(module->twins[i]);
        auto *twin = static_cast<unsigned char *>(address_of(module->twins[i].twin));
        int32_t distance = int32_t(twin - (entry + jump_bytes));
        entry[0] = 0xe9;
        memcpy(entry + 1, &distance, sizeof distance);
        uintptr_t start = reinterpret_cast<uintptr_t>(twin);
        first = start < first ? start : first;
    }
    unseen_add_twins(first, reinterpret_cast<uintptr_t>(module->twins_end));
    mprotect(text, high - low, PROT_READ | PROT_EXEC);
}

void trace_forget_module(tc_module *module) {
    if (!model.levels)
        return;
    owners_find_globals();
    trace_remove_module(module);
}

} // namespace tc
