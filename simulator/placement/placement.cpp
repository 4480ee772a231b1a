#include "simulator/placement/placement.h"
#include "simulator/memory/config.h"
#include <nlohmann/json.hpp>

namespace thermocline {

Placement::Placement(const FramesConfig &frames, std::unique_ptr<PlacementPolicy> policy)
    : frames_(frames), policy_(std::move(policy)), rules_(policy_->rules()), table_(1024),
      sockets_(frames.sockets), socket_(frames.socket) {
    if (migrates())
        uses_.resize(table_.size());
    statistics_.pages.resize(frames_.tiers());
    statistics_.most.resize(frames_.tiers());
    statistics_.spilled.resize(frames_.tiers());
}

size_t Placement::insert(const Touch &touch) {
    if (2 * ++used_ > table_.size())
        grow();
    const uint32_t wanted = policy_->tier(touch, frames_), tiers = frames_.tiers();
    const uint32_t socket = socket_for(touch);
    Place place;
    bool found = false;
    for (uint32_t tier = wanted; tier < tiers && !found; tier++)
        found = frames_.take(tier, socket, place);
    for (uint32_t tier = wanted; tier-- > 0 && !found;)
        found = frames_.take(tier, socket, place);
    if (!found)
        throw ConfigError("the program touches more memory than all tiers have (" +
                          std::to_string((used_ - 1) * page_bytes >> 20) +
                          " MiB): give the machine more capacity");
    const uint32_t tier = place.node / sockets_;
    resides(tier);
    if (tier != wanted)
        statistics_.spilled[wanted]++;
    if (!given_back_.empty())
        given_back_.erase(touch.page);
    const size_t at = slot(touch.page);
    table_[at].page = touch.page + 1;
    table_[at].frame = place.address;
    table_[at].node = place.node;
    if (migrates()) {
        uses_[at].owner = touch.owner;
        arrived(at);
    }
    return at;
}

void Placement::give_back(uint64_t address, uint64_t bytes) {
    const uint64_t first = (address + page_bytes - 1) / page_bytes;
    const uint64_t end = (address + bytes) / page_bytes;
    bool any = false;
    const auto give = [&](size_t at) {
        if (table_[at].busy)
            return;
        const Place place = {uint32_t(table_[at].node), table_[at].frame};
        frames_.give(place);
        unmapped(table_[at].page - 1);
        given_back_[table_[at].page - 1] = place;
        statistics_.pages[place.node / sockets_]--;
        remove(at);
        any = true;
    };
    if (end > first && end - first > table_.size()) // more than there can be
        for (size_t at = 0; at < table_.size();) {
            const uint64_t page = table_[at].page - 1;
            if (table_[at].page && page >= first && page < end && !table_[at].busy)
                give(at); // another one may be there now
            else
                at++;
        }
    else
        for (uint64_t page = first; page < end; page++)
            if (const size_t at = slot(page); table_[at].page)
                give(at);
    const auto gone = [&](uint64_t page) { return table_[slot(page)].page == 0; };
    if (any) {
        std::erase_if(reached_, gone);
        std::erase_if(accessed_, gone);
    }
}

// Linear probing: what stands behind it moves up, if it could stand there.
void Placement::remove(size_t at) {
    const size_t mask = table_.size() - 1;
    for (size_t next = (at + 1) & mask; table_[next].page != 0; next = (next + 1) & mask) {
        const size_t wanted = home(table_[next].page - 1);
        if (((next - wanted) & mask) < ((next - at) & mask))
            continue;
        table_[at] = table_[next];
        if (migrates())
            uses_[at] = uses_[next];
        at = next;
    }
    table_[at] = {};
    if (migrates())
        uses_[at] = {};
    used_--;
}

void Placement::grow() {
    std::vector<Entry> old(table_.size() * 2);
    old.swap(table_);
    std::vector<Use> old_uses(migrates() ? table_.size() : 0);
    old_uses.swap(uses_);
    for (size_t i = 0; i < old.size(); i++) {
        if (old[i].page == 0)
            continue;
        const size_t at = slot(old[i].page - 1);
        table_[at] = old[i];
        if (migrates())
            uses_[at] = old_uses[i];
    }
}

nlohmann::json Placement::policy_statistics() const { return policy_->statistics(); }

} // namespace thermocline
