// Stepping aside: the process's malloc is not ours, so the annotated entries call the
// one that is.
#pragma once
#include "runtime.h"

namespace tc {

// What serves malloc in this process instead of us, or null if we do.
const char *foreign_malloc();
// The program's own operator new, or null.
bool foreign_new();

void *foreign_allocate(const Request &);
void *foreign_reallocate(void *, size_t);
void foreign_free(void *);
size_t foreign_usable(void *);

} // namespace tc
