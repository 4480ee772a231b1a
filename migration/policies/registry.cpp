// The policies by name: a new one is one line in `policy_names` and one in make_policy.
#include "migration/policies/adaptive.h"
#include "migration/policies/fixed.h"
#include "migration/policies/history.h"
#include "migration/policies/sampling.h"
#include <cstring>
#include <new>

namespace thermocline::migration {

const char *const policy_names[] = {"4K", "64K", "2M", "history", "sampling", "adaptive", nullptr};

namespace {

template <typename Kind, typename... Arguments> Policy *make(Arguments... arguments) {
    alignas(Kind) static char storage[sizeof(Kind)];
    return new (storage) Kind(arguments...);
}

} // namespace

Policy *make_policy(const char *name) {
    const auto is = [&](const char *other) { return strcmp(name, other) == 0; };
    if (is("4K"))
        return make<Fixed>(Granularity::page);
    if (is("64K"))
        return make<Fixed>(Granularity::block);
    if (is("2M"))
        return make<Fixed>(Granularity::region);
    if (is("history"))
        return make<History>();
    if (is("sampling"))
        return make<Sampling>();
    if (is("adaptive"))
        return make<Adaptive>();
    return nullptr;
}

} // namespace thermocline::migration
