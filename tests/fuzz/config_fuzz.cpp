// The reader of the configuration, on whatever bytes: no fault of memory, a fault that is
// named or a configuration that keeps its promises.
#include "config.h"
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
    Config config;
    char error[100] = "";
    const bool ok = parse_config(text, size, config, error, sizeof error);
    must(ok == (error[0] == 0));
    must(strchr(error, '\n') == nullptr);
    if (ok) {
        const int tiers = static_cast<int>(config.tier_count);
        must(tiers <= int(max_tiers) && config.class_count <= max_classes &&
             config.cache_levels <= max_caches);
        must(config.default_tier < tiers && config.nonheap_tier < tiers);
        must(config.interval_ms > 0);
        must(config.context <= max_context && (!config.preload || config.heap != HeapMode::plain));
        for (uint32_t i = 0; i < config.site_count; i++) {
            must(config.sites[i].placement_class < config.class_count && config.sites[i].key[0]);
            must(config.find(config.sites[i].key) == &config.sites[i]);
        }
    }
    drop_config(config);
    free(text);
    return 0;
}
