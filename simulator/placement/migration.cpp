// The page table's part of migration: which frames an operation takes, and whose they are then.
#include "simulator/placement/placement.h"
#include <algorithm>

namespace thermocline {

std::vector<Operation> Placement::ask_reached() {
    std::vector<Operation> all;
    for (uint64_t page : reached_)
        for (Operation &each : policy_->reached(use_of(slot(page)), *this))
            all.push_back(std::move(each));
    reached_.clear();
    return all;
}

std::vector<Operation> Placement::end_epoch() {
    std::vector<Operation> all = policy_->epoch(*this);
    for (size_t i = 0; i < accessed_.size(); i++) {
        Use &use = uses_[accessed_slot(i)];
        use.accesses = use.listed = 0;
    }
    accessed_.clear();
    return all;
}

bool Placement::begin(const Operation &operation, std::vector<PageCopy> &copies) {
    copies.clear();
    const uint32_t tiers = frames_.tiers();
    std::vector<uint32_t> to;                                // of each copy's page
    std::vector<std::vector<uint32_t>> alone(tiers * tiers); // copies by both tiers, so far alone
    bool possible = true;
    for (const PageMove &move : operation) {
        const size_t at = slot(move.page);
        if (table_[at].page == 0 || move.tier >= tiers)
            continue; // never touched
        const uint32_t tier = table_[at].node / sockets_;
        possible &= !table_[at].busy;
        if (tier == move.tier || !possible)
            continue;
        table_[at].busy = 1;
        const Place place = {table_[at].node, table_[at].frame};
        std::vector<uint32_t> &partners = alone[move.tier * tiers + tier];
        if (partners.empty()) {
            alone[tier * tiers + move.tier].push_back(uint32_t(copies.size()));
            copies.push_back({move.page, PageCopy::no_page, place, {}, uses_[at].owner, 0});
            to.push_back(move.tier);
        } else {
            PageCopy &copy = copies[partners.back()];
            partners.pop_back();
            copy.other = move.page;
            copy.other_owner = uses_[at].owner;
            copy.to = place;
        }
    }
    if (possible && take_frames(copies, to)) {
        for (const PageCopy &copy : copies) {
            unmapped(copy.page);
            if (copy.other != PageCopy::no_page)
                unmapped(copy.other);
        }
        return !copies.empty();
    }
    for (const PageCopy &copy : copies) {
        table_[slot(copy.page)].busy = 0;
        if (copy.other != PageCopy::no_page)
            table_[slot(copy.other)].busy = 0;
    }
    return false;
}

// For the pages that change places with none; all or nothing.
bool Placement::take_frames(std::vector<PageCopy> &copies, const std::vector<uint32_t> &tiers) {
    for (size_t i = 0; i < copies.size(); i++) {
        if (copies[i].other != PageCopy::no_page ||
            frames_.take(tiers[i], copies[i].from.node % sockets_, copies[i].to))
            continue;
        for (size_t taken = 0; taken < i; taken++)
            if (copies[taken].other == PageCopy::no_page)
                frames_.give(copies[taken].to);
        return false;
    }
    return true;
}

void Placement::settle(uint64_t page, const Place &place) {
    const size_t at = slot(page);
    statistics_.pages[table_[at].node / sockets_]--;
    resides(place.node / sockets_);
    table_[at].node = place.node;
    table_[at].frame = place.address;
    table_[at].busy = 0;
    uses_[at].accesses = 0;
    arrived(at);
}

// The page has a frame of the tier where it is now.
void Placement::arrived(size_t at) {
    if (!rules_.faults)
        return;
    uses_[at].last = ++clock_;
    if (table_[at].node < sockets_ && !uses_[at].queued) {
        uses_[at].queued = 1;
        by_age_.push({clock_, table_[at].page - 1});
    }
}

std::optional<uint64_t> Placement::oldest(uint64_t first, uint64_t end) {
    std::vector<Age> kept;
    std::optional<uint64_t> found;
    while (!found && !by_age_.empty()) {
        Age age = by_age_.top();
        by_age_.pop();
        const size_t at = slot(age.page);
        if (table_[at].page == 0 || table_[at].node >= sockets_) {
            uses_[at].queued = 0; // gone; of a free entry it says nothing
            continue;
        }
        if (uses_[at].last != age.last) { // used since
            age.last = uses_[at].last;
            by_age_.push(age);
            continue;
        }
        kept.push_back(age);
        if (!table_[at].busy && (age.page < first || age.page >= end))
            found = age.page;
    }
    for (const Age &age : kept)
        by_age_.push(age);
    return found;
}

void Placement::finish(const std::vector<PageCopy> &copies) {
    for (const PageCopy &copy : copies) {
        settle(copy.page, copy.to);
        if (copy.other != PageCopy::no_page)
            settle(copy.other, copy.from);
        else
            frames_.give(copy.from);
    }
}

std::optional<PageUse> Placement::use(uint64_t page) const {
    const size_t at = slot(page);
    return table_[at].page == 0 ? std::nullopt : std::optional(use_of(at));
}

// Those that come next are brought into the host's caches: they lie anywhere.
size_t Placement::accessed_slot(size_t number) const {
    if (number + 16 < accessed_.size()) {
        const size_t soon = home(accessed_[number + 16]);
        __builtin_prefetch(&table_[soon]);
        __builtin_prefetch(&uses_[soon]);
    }
    return slot(accessed_[number]);
}

std::vector<PageUse> Placement::accessed() const {
    std::vector<PageUse> all;
    all.reserve(accessed_.size());
    for (size_t i = 0; i < accessed_.size(); i++)
        all.push_back(use_of(accessed_slot(i)));
    return all;
}

std::vector<PageUse> Placement::uses(uint32_t tier) const {
    std::vector<PageUse> all;
    for (size_t at = 0; at < table_.size(); at++)
        if (table_[at].page != 0 && table_[at].node / sockets_ == tier)
            all.push_back(use_of(at));
    return all;
}

} // namespace thermocline
