// Stepping aside: the process's malloc is not ours, so the annotated entries call the
// one that is.
#pragma once
#include "runtime.h"

namespace tc {

// What serves malloc in this process instead of us, or null if we do.
const char *foreign_malloc();
// The program's own operator new, or null.
bool foreign_new();

// The other malloc may pass requests on to the next one, which is ours.  A call of an entry
// that it has, which comes to us all the same, is such a one.
bool is_forwarded(const Request &);
bool is_realloc_forwarded();

void *foreign_allocate(const Request &);
void *foreign_reallocate(void *, size_t);
size_t foreign_usable(void *);

} // namespace tc
