// See memory.h: what the channels counted, and what it cost in energy.
#include "simulator/memory/memory.h"

namespace thermocline {

Statistics Memory::statistics(Ps until) {
    step(until);
    for (uint32_t channel = 0; channel < channels_.size(); channel++)
        run(channel, cycle_at(until)); // idle ones too: they refresh
    collect();
    Statistics all;
    all.until = until;
    all.dram.traffic = traffic_[0];
    all.nvm.traffic = traffic_[1];
    double open_ns = 0;
    for (uint32_t channel = 0; channel < config_.channels; channel++) {
        const bool screening = !screening_.empty();
        const DramCounts dram = screening ? screening_[channel].counts(cycle_at(until))
                                          : channels_[channel].counts(cycle_at(until));
        all.dram.read_bursts += dram.reads;
        all.dram.write_bursts += dram.writes;
        all.row_hits += dram.hits;
        all.row_misses += dram.misses;
        all.row_conflicts += dram.conflicts;
        all.activates += dram.activates;
        all.refreshes += dram.refreshes;
        all.answered += dram.answered;
        all.merged += dram.merged;
        open_ns += double(dram.open_cycles) * clock_ps_ / 1000;
        const NvmCounts nvm =
            screening ? screening_[channel].nvm_counts() : channels_[channel].nvm_counts();
        all.nvm.read_bursts += nvm.reads;
        all.nvm.write_bursts += nvm.writes;
        all.media_reads += nvm.media_reads;
        all.media_writes += nvm.media_writes;
        all.buffer_hits += nvm.buffer_hits;
        all.combined += nvm.combined;
    }
    const double ns = double(until) / 1000; // mW are pJ a nanosecond
    const double channels = config_.channels;
    for (PartStatistics *part : {&all.dram, &all.nvm})
        part->bus_busy = (part->read_bursts + part->write_bursts) * config_.dram.burst_cycles *
                         uint64_t(clock_ps_);
    const DramEnergy &cost = config_.dram.energy;
    all.dram.energy = {double(all.activates) * cost.activate_pj,
                       double(all.dram.read_bursts) * cost.read_pj,
                       double(all.dram.write_bursts) * cost.write_pj,
                       double(all.refreshes) * cost.refresh_pj,
                       open_ns * cost.open_mw +
                           (ns * config_.dram.ranks * channels - open_ns) * cost.closed_mw,
                       ns * channels * cost.static_mw};
    if (config_.nvm) {
        const NvmConfig &nvm = *config_.nvm;
        all.nvm.energy.read =
            double(all.media_reads) * nvm.read_pj + double(all.nvm.read_bursts) * nvm.transfer_pj;
        all.nvm.energy.write = double(all.media_writes) * nvm.write_pj +
                               double(all.nvm.write_bursts) * nvm.transfer_pj;
        all.nvm.energy.fixed = ns * channels * nvm.static_mw;
    }
    if (link_) {
        all.request_bytes = link_->request.bytes();
        all.response_bytes = link_->response.bytes();
        all.link_pj = double(all.request_bytes + all.response_bytes) * config_.link->pj_per_byte +
                      ns * config_.link->static_mw;
    }
    return all;
}

} // namespace thermocline
