// The process's sites: one number per key, however many modules, clones and reloads of a
// module carry it.
#pragma once
#include "abi.h"
#include <cstdint>

namespace tc {

struct SiteRecord {
    const char *key;     // kept for good, also after dlclose
    const char *routine; // null for a module's un-annotated code
    uint32_t placement;  // where the plan wants it
    bool planned, reached;
};

// The number of a key, from 1; 0 if the table is full.  Both strings are copied.
uint32_t intern_site(const char *key, const char *routine);

// Numbers are 1 .. site_count(); records stay where they are.
uint32_t site_count();
SiteRecord *site_record(uint32_t id);

// The record of a key, null if no module carried it.
const SiteRecord *find_site(const char *key);

// The "MODULE!unannotated" site of the code at an address, 0 if there is no such module.
uint32_t unannotated_site(const void *code);

// Around fork.
void lock_sites();
void unlock_sites();

} // namespace tc
