// The samplers of this library, by name.
#include "sampler.h"
#include <cstring>

namespace tc {

#ifdef THERMOCLINE_TRACE
extern const Sampler trace_sampler;
extern const Sampler bursts_sampler;
#endif

#ifdef THERMOCLINE_SITE_HEAP
extern const Sampler sample_sampler;
extern const Sampler pages_sampler;
extern const Sampler owners_sampler;
#endif

namespace {

const Sampler *const samplers[] = {
#ifdef THERMOCLINE_TRACE
    &trace_sampler,  &bursts_sampler,
#endif
#ifdef THERMOCLINE_SITE_HEAP
    &sample_sampler, &pages_sampler,  &owners_sampler,
#endif
    nullptr,
};

} // namespace

const Sampler *find_sampler(const char *name) {
    for (const Sampler *sampler : samplers)
        if (sampler && strcmp(sampler->name, name) == 0)
            return sampler;
    return nullptr;
}

} // namespace tc
