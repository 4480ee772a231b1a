// The reader of THERMOCLINE_MIGRATE, on whatever bytes: no fault of memory, a fault that is named
// or settings that keep their promises.
#include "migration/engine/settings.h"
#include <cstdlib>
#include <cstring>
#include <string>

using namespace tc;

static void must(bool holds) {
    if (!holds)
        abort();
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    // On the heap and not a byte larger than promised, so that AddressSanitizer sees all.
    char *text = static_cast<char *>(malloc(size + 1));
    if (size)
        memcpy(text, data, size);
    text[size] = 0;
    MigrateSettings to;
    char error[100] = "";
    const bool ok = parse_settings(text, to, error, sizeof error);
    must(ok == (error[0] == 0));
    must(strchr(error, '\n') == nullptr);
    if (ok) {
        must(to.near_bytes >= MigrateSettings::least_near_bytes && to.least_bytes >= 4096);
        must(memchr(to.policy, 0, sizeof to.policy) && memchr(to.report, 0, sizeof to.report));
        must((to.near_node < 0) == (to.far_node < 0) &&
             (to.near_node < 0 || to.near_node != to.far_node));
        for (const int node : {to.near_node, to.far_node})
            must(node < int(MigrateSettings::max_nodes));
        for (const uint64_t latency : {to.in_latency_ns, to.out_latency_ns})
            must(latency <= MigrateSettings::most_latency_ns);
        for (const uint64_t rate : {to.in_bytes_per_second, to.out_bytes_per_second})
            must(rate == 0 || rate >= MigrateSettings::least_bandwidth);
    }
    free(text);
    return 0;
}
