// Annotated modules and their sites.
#pragma once
#include "abi.h"
#include "config.h"

namespace tc {

// The placement that the configuration gives this site, and remember that it came.
uint32_t resolve(tc_site *);

const char *key_of(const tc_module &, const tc_site &);

} // namespace tc
