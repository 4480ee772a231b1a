#include "simulator/system/translation_answer.h"

namespace thermocline {

namespace {

using Json = nlohmann::json;

void add(BufferStatistics &sum, const BufferStatistics &each) {
    sum.lookups += each.lookups;
    sum.hits += each.hits;
}
Json json(const BufferStatistics &buffer) {
    return {{"lookups", buffer.lookups}, {"hits", buffer.hits}};
}

} // namespace

Json translation_json(const Translation &translation, const MissStatistics &misses,
                      const std::vector<std::string> &owners) {
    const TranslationConfig &config = translation.config();
    std::array<BufferStatistics, page_sizes> first;
    std::array<BufferStatistics, PageTables::most_levels> guest, host;
    BufferStatistics second, second_huge, nested_tlb;
    WalkStatistics walks;
    for (uint32_t core = 0; core < translation.cores(); core++) {
        const Walker &walker = translation.walker(core);
        for (unsigned size = 0; size < page_sizes; size++)
            add(first[size], translation.first(core, size));
        add(second, translation.second(core));
        add(second_huge, translation.second_huge(core));
        add(nested_tlb, walker.nested_tlb().statistics());
        for (unsigned level = 1; level < config.levels; level++) {
            add(guest[level], walker.guest_cache(level).statistics());
            add(host[level], walker.host_cache(level).statistics());
        }
        walks.walks += walker.statistics().walks;
        walks.references += walker.statistics().references;
        walks.most = std::max(walks.most, walker.statistics().most);
    }
    Json firsts = Json::array(), caches = Json::array(), host_caches = Json::array();
    for (const BufferStatistics &each : first)
        firsts.push_back(json(each));
    for (unsigned level = 1; level < config.levels; level++) {
        caches.push_back(json(guest[level]));
        host_caches.push_back(json(host[level]));
    }
    Json sites = Json::array();
    for (size_t owner = 0; owner < misses.owners.size() && owner < owners.size(); owner++)
        if (misses.owners[owner].misses)
            sites.push_back({{"key", owners[owner]},
                             {"second_misses", misses.owners[owner].misses},
                             {"penalty_seconds", double(misses.owners[owner].penalty) / 1e12}});
    const uint64_t missed = second.lookups - second.hits + second_huge.lookups - second_huge.hits;
    Json made = {{"mode", config.nested ? "nested" : "native"},
                 {"tlb", config.name},
                 {"first", std::move(firsts)},
                 {"second", json(second)},
                 {"second_huge", json(second_huge)},
                 {"second_misses", missed},
                 {"last", translation.last().statistics()},
                 {"walks", walks.walks},
                 {"walk_references", walks.references},
                 {"most_walk_references", walks.most},
                 {"walk_caches", std::move(caches)},
                 {"references_found", misses.found},
                 {"stores", misses.stores},
                 {"waited", misses.waited},
                 {"penalty", latency_json(misses.penalty)},
                 {"penalty_seconds", double(misses.penalty.sum()) / 1e12},
                 {"queued_seconds", double(misses.queued) / 1e12},
                 {"shootdowns", translation.shootdowns()},
                 {"sites", std::move(sites)},
                 {"table_bytes", translation.table_bytes()}};
    if (config.nested) {
        made["host_walk_caches"] = std::move(host_caches);
        made["nested_tlb"] = json(nested_tlb);
    }
    return made;
}

} // namespace thermocline
