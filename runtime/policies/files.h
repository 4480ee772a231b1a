// Ranges whose blocks lie in files.
#pragma once
#include "range.h"

namespace tc {

// Blocks go round one file in each directory; the files have no name.  Null after a failure.
char *map_files(const Blocks &, const char *const *directories, unsigned count,
                bool allow_page_cache);

} // namespace tc
