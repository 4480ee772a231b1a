// Memory in units of 64 KiB that belong to sites 1, 2, 3, 1, 2, ...
#pragma once
#include "site_heap.h"

char *make_owned_memory(unsigned units);
inline uint32_t owner_in_test(uintptr_t address) { return tc_owner_of(address); }
