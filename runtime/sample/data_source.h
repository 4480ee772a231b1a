// What a processor says of a sampled access: a load or a store, and who served it.
#pragma once
#include <cstdint>

namespace tc::sample {

struct Access {
    bool load, store;
    enum Served : uint8_t { unknown, by_cache, by_memory } served;
};

// PERF_SAMPLE_DATA_SRC, which the kernel fills from Intel's PEBS and AMD's IBS.  A line that was
// already on its way (line fill buffer, MAB) counts as cached: another access moved it.
Access read_data_source(uint64_t);

} // namespace tc::sample
