// Reads the part of a configuration that is address translation's.
#include "simulator/system/json_object.h"
#include "simulator/system/simulation.h"

namespace thermocline {

namespace {

constexpr Ps max_ps = 1'000'000; // a microsecond

BufferConfig read_buffer(Object json) {
    BufferConfig made;
    made.entries = uint32_t(json.number("entries", 0, 1 << 20));
    made.ways = uint32_t(json.number("ways", 1, 1 << 10));
    if (made.entries % made.ways)
        json.fail("entries", "can't be shared out evenly among the ways");
    json.finish();
    return made;
}

// Memory beyond what the tier's node is said to have.
KeptRegion read_region(Object json, const SimulationConfig &config) {
    KeptRegion made;
    const uint64_t tier = json.number("tier", 0, config.tiers.size() - 1);
    made.node = uint32_t(tier) * config.system.sockets; // of the first socket
    made.address = json.number("address", 0, uint64_t(1) << 50);
    made.bytes = json.number("bytes", 0, uint64_t(1) << 40);
    if (made.address < config.frames.node_bytes[made.node])
        json.fail("address", "is in the memory that the program has");
    if (made.address % 4096 || made.bytes % 4096)
        json.fail("bytes", "and address must be whole pages");
    json.finish();
    return made;
}

void check_options(const Json &options) {
    for (const auto &option : options.items())
        if (option.value().is_number() &&
            !(option.value().get<double>() >= 0 && option.value().get<double>() <= 1e6))
            throw ConfigError("translation.tlb." + option.key() + " must be from 0 to 1000000");
}

} // namespace

TranslationConfig parse_translation(const Json &all, const SimulationConfig &config) {
    Object json(all, "translation");
    TranslationConfig made;
    made.on = true;
    const std::string mode = json.text("mode");
    if (mode != "native" && mode != "nested")
        json.fail("mode", "must be native or nested");
    made.nested = mode == "nested";
    made.levels = unsigned(json.number("levels", 4, PageTables::most_levels));
    made.pages.large = json.real("large_share", 0, 1);
    if (json.find("recorded_pages"))
        made.recorded_pages = json.flag("recorded_pages");
    made.pages.huge = json.real("huge_share", 0, 1);
    made.pages.seed = config.frames.seed;
    unsigned size = 0;
    for (const Json &each : json.list("first", page_sizes, page_sizes))
        made.first[size++] = read_buffer(Object(each, "translation.first"));
    made.second = read_buffer(Object(json.at("second"), "translation.second"));
    made.second_huge = read_buffer(Object(json.at("second_huge"), "translation.second_huge"));
    const uint64_t coalesce = json.number_or("coalesce", 1, 1, Coalesced::most);
    made.coalesce = unsigned(std::countr_zero(coalesce));
    if (coalesce & (coalesce - 1))
        json.fail("coalesce", "must be a power of two");
    made.second_ps = json.number("second_ps", 0, max_ps);
    unsigned level = 1;
    for (const Json &each : json.list("walk_caches", 0, PageTables::most_levels - 1))
        made.walk_caches[level++] = read_buffer(Object(each, "translation.walk_caches"));
    made.nested_tlb = read_buffer(Object(json.at("nested_tlb"), "translation.nested_tlb"));
    made.walk_cache_ps = json.number("walk_cache_ps", 0, max_ps);
    made.nested_tlb_ps = json.number("nested_tlb_ps", 0, max_ps);
    made.walkers = uint32_t(json.number("walkers", 1, 64));
    made.first_cache = uint32_t(json.number("first_cache", 0, Hierarchy::max_levels - 1));
    made.options = json.at("tlb");
    Object tlb(made.options, "translation.tlb");
    made.name = tlb.text("name");
    check_options(made.options);
    made.hertz = config.system.core.hertz;
    made.tables = read_region(Object(json.at("tables"), "translation.tables"), config);
    made.buffer = read_region(Object(json.at("buffer"), "translation.buffer"), config);
    if (made.buffer.bytes > uint64_t(4) << 30)
        json.fail("buffer", "must be at most 4 GiB");
    json.finish();
    return made;
}

} // namespace thermocline
