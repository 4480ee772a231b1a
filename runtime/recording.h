// The trace recorder (trace/traffic.h), or its absence in a library built without it.
#pragma once
#include "config.h"

#ifdef THERMOCLINE_TRACE
#include "trace/traffic.h"
#else

struct tc_module;

namespace tc {

struct Traffic {
    unsigned long read_bytes, write_bytes;
};
inline bool trace_start(const Config &, const char **why) {
    *why = "this library was built without the trace recorder";
    return false;
}
inline void trace_patch_module(const tc_module *) {}
inline void trace_forget_module(const tc_module *) {}
inline void trace_end() {}
inline void trace_tier_snapshot(Traffic *, unsigned) {}

} // namespace tc

#endif
