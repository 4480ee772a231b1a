// Annotated modules: registration, and the first allocation at a site.
#pragma once
#include "abi.h"

namespace tc {

// The placement of a site, and remember that it came.  A site whose module is not loaded
// yet (its constructor has not run) stays unresolved.
uint32_t resolve(tc_site *);

} // namespace tc
