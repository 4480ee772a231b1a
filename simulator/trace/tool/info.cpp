// A trace in numbers, from its index; with `count`, from every record.
#include "simulator/trace/tool/info.h"
#include <filesystem>
#include <unordered_set>

namespace thermocline {

namespace {

using Json = nlohmann::ordered_json;

constexpr uint64_t page_bytes = 4096;

struct ThreadNumbers {
    uint64_t references = 0, chunks = 0, begin_ns = UINT64_MAX, end_ns = 0;
};

struct OwnerNumbers {
    uint64_t loads = 0, stores = 0, load_bytes = 0, store_bytes = 0, allocations = 0;
};

// META is whatever its writer made it.
bool is_false(const nlohmann::json &meta, const char *key) {
    const auto found = meta.find(key);
    return found != meta.end() && *found == false;
}

// Every record: "owners" and "instructions", the rows of the trace's tables.
void count_records(TraceReader &trace, Json &answer) {
    const Tables &tables = trace.tables();
    std::vector<OwnerNumbers> numbers(tables.owners.size());
    std::vector<uint64_t> executed(tables.statics.size());
    std::unordered_set<uint64_t> pages;
    uint64_t in_large = 0;
    for (uint32_t thread : trace.threads())
        while (const Reference *r = trace.cursor(thread).next()) {
            if (r->event == TraceEvent::allocate)
                numbers[r->owner].allocations++;
            if (r->event != TraceEvent::reference)
                continue;
            OwnerNumbers &owner = numbers[r->owner];
            in_large += tables.large.contains(r->address);
            pages.insert(r->address / page_bytes);
            (r->store ? owner.stores : owner.loads)++;
            (r->store ? owner.store_bytes : owner.load_bytes) += r->bytes;
            if (r->instruction != no_static)
                executed[r->instruction]++;
        }
    Json owners = Json::array(), instructions = Json::array();
    for (size_t i = 0; i < numbers.size(); i++)
        owners.push_back({{"key", tables.owners[i]},
                          {"loads", numbers[i].loads},
                          {"stores", numbers[i].stores},
                          {"load_bytes", numbers[i].load_bytes},
                          {"store_bytes", numbers[i].store_bytes},
                          {"allocations", numbers[i].allocations}});
    for (size_t i = 0; i < executed.size(); i++) {
        const StaticInstruction &row = tables.statics[i];
        instructions.push_back({{"position", tables.position(uint32_t(i))},
                                {"store", row.store},
                                {"bytes", row.bytes},
                                {"dependent", row.producers > 0},
                                {"references", executed[i]}});
    }
    if (tables.pages_known) {
        uint64_t large = 0;
        for (uint64_t page : pages)
            large += tables.large.contains(page * page_bytes) ? page_bytes : 0;
        answer["touched_bytes"] = pages.size() * page_bytes;
        answer["touched_large_bytes"] = large;
        answer["references_in_large_pages"] = in_large;
    }
    answer["owners"] = owners;
    answer["instructions"] = instructions;
}

} // namespace

Json describe(TraceReader &trace, bool count) {
    if (!trace.index())
        throw TraceError(trace.name() + " is a raw stream: make a trace of it with "
                                        "thermocline-trace collect");
    std::map<uint32_t, ThreadNumbers> threads;
    const uint64_t bytes = std::filesystem::file_size(trace.name());
    uint64_t references = 0;
    for (const IndexEntry &entry : *trace.index()) {
        const ChunkHeader &header = entry.header;
        if (header.kind != ChunkKind::records)
            continue;
        ThreadNumbers &thread = threads[header.thread];
        thread.references += header.references;
        thread.chunks++;
        thread.begin_ns = std::min(thread.begin_ns, header.begin_ns);
        thread.end_ns = std::max(thread.end_ns, header.end_ns);
        references += header.references;
    }
    const Tables &tables = trace.tables();
    Json rows = Json::array();
    for (const auto &[number, thread] : threads) {
        Json row = {{"thread", number},
                    {"references", thread.references},
                    {"chunks", thread.chunks},
                    {"begin_seconds", double(thread.begin_ns) * 1e-9},
                    {"end_seconds", double(thread.end_ns) * 1e-9}};
        for (const tc_raw_thread_end &end : tables.ends)
            if (end.thread == number) {
                row["instructions"] = end.instructions;
                row["dropped_references"] = end.dropped;
            }
        rows.push_back(row);
    }
    uint64_t dependent = 0;
    for (const StaticInstruction &row : tables.statics)
        dependent += row.producers > 0;
    Json windows = Json::array();
    for (const tc_raw_window &window : tables.windows)
        windows.push_back({{"number", window.number},
                           {"begin_seconds", double(window.begin_ns) * 1e-9},
                           {"end_seconds", double(window.end_ns) * 1e-9},
                           {"instructions", window.instructions}});
    Json answer = {
        {"format", "thermocline-trace"},
        {"version", trace_version},
        {"path", trace.name()},
        {"complete", !trace.cut_off() && tables.ended && !is_false(tables.meta, "complete")},
        {"cut_off", trace.cut_off()},
        {"chunks", trace.index()->size()},
        {"bytes", bytes},
        {"references", references},
        {"bytes_per_reference", references ? double(bytes) / double(references) : 0.0},
        {"threads", rows},
        {"static_instructions", tables.statics.size()},
        {"dependent_instructions", dependent},
        {"functions", tables.functions},
        {"windows", windows},
        {"meta", tables.meta},
    };
    if (tables.pages_known)
        answer["large_page_bytes"] = tables.large.bytes();
    if (count)
        count_records(trace, answer);
    else
        answer["owners"] = tables.owners;
    return answer;
}

} // namespace thermocline
