// One DRAM channel for wide sweeps: a request's end is known when it enters.  Banks and the data
// bus are busy until some time, activates keep to faw and rrd, and a request may overtake: it
// takes the first free slots of bus and activates, whatever came before, and a row that is waited
// for in its bank is a hit.  Writes go in batches, each of which costs the turns of the bus.
#pragma once
#include "simulator/memory/calendar.h"
#include "simulator/memory/dram_channel.h"
#include <optional>
#include <vector>

namespace thermocline {

class ScreeningChannel {
  public:
    ScreeningChannel(const DramConfig &config, const std::optional<NvmConfig> &nvm);

    bool room(Cycle now, bool write, uint32_t bursts);
    // The cycle from which on there is room for a burst.  Entries that have left count until their
    // place is wanted: then the first to leave says since when it was free.
    Cycle wait(Cycle now, bool write) {
        SlotSet &departing = departing_[write];
        const uint64_t waiting = departing.size() + (write ? writes_.size() : 0);
        if (waiting < (write ? config_.queues.writes : config_.queues.reads))
            return now;
        const uint32_t latency = write ? config_.timing.cwl : config_.timing.cl;
        // A drain leaves fewer writes than the queue holds, so that one is departing.
        const Cycle left = bus_.start(departing.take_first() + 1) - latency;
        return std::max(now, left);
    }
    bool room_nvm(Cycle now, bool write, uint32_t bursts) const;
    // A burst enters; a read's data has come at the cycle that is returned.
    Cycle enter(Cycle now, DramPlace place, bool write);
    Cycle enter_nvm(Cycle now, uint64_t local, bool write);
    // The cycle before the one in which the first of those that wait has left its queue, or
    // `never`.
    Cycle next(Cycle now);

    DramCounts counts(Cycle until) const;
    NvmCounts nvm_counts() const { return nvm_ ? nvm_->counts() : NvmCounts{}; }

  private:
    struct Bank {
        uint32_t row = UINT32_MAX, other_row = UINT32_MAX;
        Cycle open_until = 0; // the refresh that will close the row; 0: none was opened yet
        Cycle activated = 0;
        Cycle column = 0;       // when the row's next column command may come
        Cycle closable = 0;     // when it may be closed, as far as RD and WR say
        Cycle other_column = 0; // of the row before
    };
    struct Rank {
        Cycle due, counted_until = 0; // refresh
        Calendar activates;
    };
    Cycle place(Cycle now, DramPlace place, bool write);
    Cycle activate(Cycle now, Bank &bank, Rank &rank, uint32_t row);
    Cycle due_after(Rank &rank, Cycle cycle) const;
    void drain(Cycle now, size_t stop);
    void depart(Cycle now, bool write);
    void forget(Cycle now);

    const DramConfig config_;
    const uint32_t banks_per_rank_;
    std::vector<Bank> banks_;
    std::vector<Rank> ranks_;
    Calendar bus_;
    SlotSet departing_[2]; // bus slots of reads, writes whose column command is still to come
    std::vector<DramPlace> writes_; // that wait for a drain
    uint32_t turn_slots_, open_slots_;
    bool has_read_ = false; // since the last drain
    Cycle forget_next_ = 0;
    DramCounts counts_;
    std::optional<NvmModule> nvm_;
    std::vector<Cycle> nvm_departures_[2]; // the last ones, in a ring
    uint64_t nvm_entered_[2] = {};
};

} // namespace thermocline
