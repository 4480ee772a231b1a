#include "simulator/placement/placement.h"
#include "simulator/memory/config.h"

namespace thermocline {

Placement::Placement(const FramesConfig &frames, std::unique_ptr<PlacementPolicy> policy)
    : frames_(frames), policy_(std::move(policy)), table_(1024), sockets_(frames.sockets) {
    statistics_.pages.resize(frames_.tiers());
    statistics_.spilled.resize(frames_.tiers());
}

size_t Placement::insert(const Touch &touch) {
    if (2 * ++used_ > table_.size())
        grow();
    const uint32_t wanted = policy_->tier(touch, frames_), tiers = frames_.tiers();
    Place place;
    bool found = false;
    for (uint32_t tier = wanted; tier < tiers && !found; tier++)
        found = frames_.take(tier, touch.socket, place);
    for (uint32_t tier = wanted; tier-- > 0 && !found;)
        found = frames_.take(tier, touch.socket, place);
    if (!found)
        throw ConfigError("the program touches more memory than all tiers have (" +
                          std::to_string((used_ - 1) * page_bytes >> 20) +
                          " MiB): give the machine more capacity");
    const uint32_t tier = place.node / sockets_;
    statistics_.pages[tier]++;
    if (tier != wanted)
        statistics_.spilled[wanted]++;
    size_t at = home(touch.page);
    while (table_[at].page != 0)
        at = (at + 1) & (table_.size() - 1);
    table_[at].page = touch.page + 1;
    table_[at].frame = place.address;
    table_[at].node = place.node;
    return at;
}

void Placement::grow() {
    std::vector<Entry> old(table_.size() * 2);
    old.swap(table_);
    for (const Entry &each : old) {
        if (each.page == 0)
            continue;
        size_t at = home(each.page - 1);
        while (table_[at].page != 0)
            at = (at + 1) & (table_.size() - 1);
        table_[at] = each;
    }
}

} // namespace thermocline
