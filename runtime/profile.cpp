// See profile.h.
#include "config.h"
#include "site_heap.h"

bool site_heap_start(const tc::Config &) { return site_heap_reserve(); }
