// Who owned which address when, as a method of profiling: what samples that perf takes from outside
// need to be told apart by site (docs/perf-script.md).  It samples nothing itself.
#include "sampler.h"
#include "config.h"
#include "log.h"
#include "nonheap.h"
#include "runtime.h"
#include "site_heap_span.h"
#include "text.h"

namespace tc {

extern const Sampler owners_sampler;

namespace owners {
namespace {

uint64_t started;

bool start(const Config &config, const char **why) {
    if (config.heap != HeapMode::sites) {
        *why = "sampler owners needs heap sites";
        return false;
    }
    if (!log_start()) {
        *why = "there is no memory for the log of owners";
        return false;
    }
    started = nanoseconds();
    owner_changed = log_release;
    return true;
}

void snapshot(Traffic *, uint32_t, Traffic *) {} // sums of nothing: they stay zero

// Rows of numbers, flat: the file has many.
void put_owner(void *context, const Change &change) {
    auto &json = *static_cast<JsonFile *>(context);
    json.number(nullptr, change.address);
    json.number(nullptr, change.bytes);
    json.number(nullptr, change.site);
}

void put_mapping(void *context, uintptr_t from, uintptr_t to, MappingKind kind) {
    if (kind == MappingKind::other)
        return;
    auto &json = *static_cast<JsonFile *>(context);
    json.number(nullptr, from);
    json.number(nullptr, to - from);
    json.number(nullptr, kind == MappingKind::stack ? 0 : 1);
}

void put(JsonFile &json) {
    json.string("meaning", "who owned which address is in this profile: 'thermocline import' adds "
                           "samples that perf took meanwhile");
    json.open('{', "owners");
    json.number("from_ns", started);
    json.number("to_ns", nanoseconds());
    json.number("full_at_ns", log_full_at());
    json.open('[', "changes"); // until when, address, bytes, site
    const uint64_t count = log_count();
    for (uint64_t i = 0; i < count; i++) {
        const Change &change = log_entry(i);
        if (const uint64_t until = __atomic_load_n(&change.nanoseconds, __ATOMIC_ACQUIRE)) {
            json.number(nullptr, until);
            put_owner(&json, change);
        }
    }
    json.close(']');
    json.open('[', "last"); // address, bytes, site
    each_owner(put_owner, &json);
    json.close(']');
    json.open('[', "mappings"); // address, bytes, 0: stack, 1: globals
    nonheap_mappings(put_mapping, &json);
    json.close(']');
    json.close('}');
}

// A list, since a preloaded program's paths may become one site (thermocline/profiles/preload.py).
void put_site(JsonFile &json, uint32_t site) {
    json.open('[', "numbers");
    json.number(nullptr, site);
    json.close(']');
}

} // namespace
} // namespace owners

const Sampler owners_sampler = {
    .name = "owners",
    .start = owners::start,
    .snapshot = owners::snapshot,
    .tick = nullptr,
    .unseen_share = nullptr,
    .put = owners::put,
    .put_site = owners::put_site,
    .put_outside = nullptr,
    .restart_in_child = nullptr,
};

} // namespace tc
