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
inline void trace_patch_module(tc_module *) {}
inline void trace_forget_module(tc_module *) {}
inline void trace_end() {}
constexpr unsigned long trace_least_block = 4096;
inline bool trace_streams() { return false; }
inline void stream_allocated(const void *, unsigned long, unsigned) {}
inline void stream_released(const void *) {}
inline void trace_tier_snapshot(Traffic *, unsigned) {}

} // namespace tc

#endif
