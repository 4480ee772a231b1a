// The trace as a method of profiling.
#include "sampler.h"
#include "traffic.h"

namespace tc {

extern const Sampler trace_sampler;
const Sampler trace_sampler = {
    .name = "trace",
    .start = trace_start,
    .snapshot = trace_snapshot,
    .tick = nullptr,
    .unseen_share = trace_unseen_share,
    .put = nullptr,
    .put_site = nullptr,
    .put_outside = nullptr,
    .restart_in_child = nullptr, // the recorder handles forks by itself
};

} // namespace tc
