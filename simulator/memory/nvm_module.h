// A module of non-volatile memory on a DRAM channel (Optane: Peng et al. 2019, section 2): media
// that read and write whole blocks, one at a time, behind a read buffer and a write buffer in
// which writes to one block combine.  The channel (dram_channel.h) asks which transfer is ready
// and moves it over its bus; the module knows when the media will be done.
#pragma once
#include "simulator/memory/config.h"
#include <cstdint>
#include <vector>

namespace thermocline {

using Cycle = uint64_t;

struct NvmCounts {
    uint64_t reads = 0, writes = 0; // transfers
    uint64_t media_reads = 0, media_writes = 0;
    uint64_t buffer_hits = 0, combined = 0; // reads, writes
};

// Blocks, the least recently used of which makes room.
class BlockBuffer {
  public:
    explicit BlockBuffer(uint32_t size) : size_(size) {}
    bool full() const { return blocks_.size() == size_; }
    // The time that was given to insert(), or null; the block has been used.
    const Cycle *use(uint64_t block);
    bool holds(uint64_t block) const;
    void insert(uint64_t block, Cycle filled); // in place of the least recently used if full
    void evict();

  private:
    uint32_t size_;
    uint64_t clock_ = 0;
    std::vector<uint64_t> blocks_, used_;
    std::vector<Cycle> filled_;
};

class NvmModule {
  public:
    struct Transfer {
        uint64_t block, sequence;
        uint32_t ticket;
        Cycle ready;
    };
    NvmModule(const NvmConfig &config, uint32_t clock_ps);

    bool room(bool write, uint32_t bursts) const {
        return (write ? writes_ : reads_).size() + bursts <=
               (write ? config_.writes : config_.reads);
    }
    void enter(Cycle now, uint64_t local, bool write, uint32_t ticket, uint64_t sequence);
    // The transfer that is ready first, or null.
    const Transfer *read() const { return reads_.empty() ? nullptr : &reads_.front(); }
    const Transfer *write() const { return writes_.empty() ? nullptr : &writes_.front(); }
    bool many_writes() const { return writes_.size() >= config_.writes - config_.writes / 4; }
    Transfer take(Cycle now, bool write);
    const NvmCounts &counts() const { return counts_; }

  private:
    Cycle cycles(uint64_t ps) const { return (ps + clock_ps_ - 1) / clock_ps_; }
    Cycle use_media(Cycle now, Cycle gap); // when it can start
    Cycle read_ready(Cycle now, uint64_t block);
    void prepare_write(Cycle now);

    const NvmConfig config_;
    const uint32_t clock_ps_;
    const Cycle buffer_, media_read_, read_gap_, write_gap_;
    Cycle media_free_ = 0;
    BlockBuffer read_buffer_, write_buffer_;
    std::vector<Transfer> reads_;  // by time of readiness
    std::vector<Transfer> writes_; // as they came; only the first one's readiness is known
    NvmCounts counts_;
};

} // namespace thermocline
