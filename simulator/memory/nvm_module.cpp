// See nvm_module.h.
#include "simulator/memory/nvm_module.h"
#include <algorithm>

namespace thermocline {

const Cycle *BlockBuffer::use(uint64_t block) {
    const auto found = std::find(blocks_.begin(), blocks_.end(), block);
    if (found == blocks_.end())
        return nullptr;
    const size_t i = size_t(found - blocks_.begin());
    used_[i] = ++clock_;
    return &filled_[i];
}

bool BlockBuffer::holds(uint64_t block) const {
    return std::find(blocks_.begin(), blocks_.end(), block) != blocks_.end();
}

void BlockBuffer::insert(uint64_t block, Cycle filled) {
    if (full())
        evict();
    blocks_.push_back(block);
    used_.push_back(++clock_);
    filled_.push_back(filled);
}

void BlockBuffer::evict() {
    const size_t i = size_t(std::min_element(used_.begin(), used_.end()) - used_.begin());
    blocks_[i] = blocks_.back();
    used_[i] = used_.back();
    filled_[i] = filled_.back();
    blocks_.pop_back();
    used_.pop_back();
    filled_.pop_back();
}

NvmModule::NvmModule(const NvmConfig &config, uint32_t clock_ps)
    : config_(config), clock_ps_(clock_ps), buffer_(cycles(config.buffer_ps)),
      media_read_(cycles(config.media_read_ps)), read_gap_(cycles(config.read_gap_ps)),
      write_gap_(cycles(config.write_gap_ps)), read_buffer_(config.read_buffer),
      write_buffer_(config.write_buffer) {}

Cycle NvmModule::use_media(Cycle now, Cycle gap) {
    const Cycle start = std::max(now, media_free_);
    media_free_ = start + gap;
    return start;
}

void NvmModule::enter(Cycle now, uint64_t local, bool write, uint32_t ticket, uint64_t sequence) {
    const uint64_t block = local / config_.block_bytes;
    if (write) {
        writes_.push_back({block, sequence, ticket, 0});
        if (writes_.size() == 1)
            prepare_write(now);
        return;
    }
    const Transfer read = {block, sequence, ticket, read_ready(now, block)};
    const auto later = [](const Transfer &a, const Transfer &b) { return a.ready < b.ready; };
    reads_.insert(std::upper_bound(reads_.begin(), reads_.end(), read, later), read);
}

Cycle NvmModule::read_ready(Cycle now, uint64_t block) {
    const bool is_written = write_buffer_.holds(block) ||
                            std::any_of(writes_.begin(), writes_.end(), [&](const Transfer &write) {
                                return write.block == block;
                            });
    if (is_written) {
        counts_.buffer_hits++;
        return now + buffer_;
    }
    if (const Cycle *filled = read_buffer_.use(block)) {
        counts_.buffer_hits++;
        return std::max(now, *filled) + buffer_;
    }
    counts_.media_reads++;
    const Cycle filled = use_media(now, read_gap_) + media_read_;
    read_buffer_.insert(block, filled);
    return filled + buffer_;
}

// The first write may be transferred as soon as the buffer has room for its block: if a block
// must be written to the media for that, when that starts.
void NvmModule::prepare_write(Cycle now) {
    Transfer &first = writes_.front();
    first.ready = now;
    if (write_buffer_.holds(first.block) || !write_buffer_.full())
        return;
    write_buffer_.evict();
    counts_.media_writes++;
    first.ready = use_media(now, write_gap_);
}

NvmModule::Transfer NvmModule::take(Cycle now, bool write) {
    std::vector<Transfer> &queue = write ? writes_ : reads_;
    const Transfer taken = queue.front();
    queue.erase(queue.begin());
    (write ? counts_.writes : counts_.reads)++;
    if (!write)
        return taken;
    if (write_buffer_.use(taken.block) != nullptr)
        counts_.combined++;
    else
        write_buffer_.insert(taken.block, now);
    if (!writes_.empty())
        prepare_write(now);
    return taken;
}

} // namespace thermocline
