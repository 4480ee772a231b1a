#include "simulator/system/survey.h"
#include "simulator/placement/frames.h"
#include "simulator/trace/reader.h"
#include <algorithm>
#include <unordered_set>

namespace thermocline {

nlohmann::json survey(const std::string &path, const Region &region) {
    TraceReader trace(path);
    while (trace.advance()) // a stream's threads are known at its end
        ;
    std::unordered_set<uint64_t> pages;
    const LargePages &large = trace.tables().large;
    uint64_t references = 0, instructions = 0, last = UINT64_MAX;
    const std::vector<uint32_t> threads = trace.threads();
    for (uint32_t thread : threads) {
        Cursor &cursor = trace.cursor(thread, region);
        while (const Reference *record = cursor.next()) {
            if (record->event != TraceEvent::reference)
                continue;
            references++;
            instructions += record->gap + uint64_t(1);
            const uint64_t end = record->address + std::max(record->bytes, 1u) - 1;
            for (uint64_t page = record->address / page_bytes; page <= end / page_bytes; page++) {
                if (page != last)
                    pages.insert(page);
                last = page;
            }
        }
    }
    const auto in_large = std::count_if(pages.begin(), pages.end(), [&](uint64_t page) {
        return large.contains(page * page_bytes);
    });
    nlohmann::json large_bytes; // null: nobody looked, or a stream, which says it too late
    if (trace.index() && trace.tables().pages_known)
        large_bytes = uint64_t(in_large) * page_bytes;
    return {{"threads", threads.size()},       {"references", references},
            {"instructions", instructions},    {"touched_bytes", pages.size() * page_bytes},
            {"large_bytes", large_bytes},      {"cut_off", trace.cut_off()},
            {"owners", trace.tables().owners}, {"meta", trace.tables().meta}};
}

} // namespace thermocline
