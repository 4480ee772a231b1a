// A memory: DRAM channels, NVM modules on them if there are any, and perhaps a link in front.
//
//   Memory memory(parse_memory(json));
//   memory.advance(t, done);                 // everything before t has happened
//   while (!memory.accepts(request))         // the queue is full: wait for it
//       memory.advance(t = memory.next(), done);
//   request.arrival = t;
//   memory.push(request);                    // or all of it at once: memory.admit(request)
//
// Arrival times never fall, and no request arrives before a time that has been advanced to.  What
// happens depends on the requests alone, not on how often advance is called.  Completions are
// reported as soon as they are certain, which is before their time, and in no order.
//
// Two tiers that share channels (Optane behind the DRAM's controller) are one Memory: addresses
// from nvm_base() on are the NVM's.  Two Memories never share anything.
#pragma once
#include "simulator/memory/config.h"
#include "simulator/memory/divider.h"
#include "simulator/memory/dram_channel.h"
#include "simulator/memory/link.h"
#include "simulator/memory/request.h"
#include "simulator/memory/screening_channel.h"
#include "simulator/memory/statistics.h"
#include <vector>

namespace thermocline {

class Memory {
  public:
    explicit Memory(const MemoryConfig &config);

    // Which of queues() the request waits in line for: its first burst's channel, whose reads and
    // writes go one way, so that writes that find no room hold up reads and can't pile up; NVM on
    // it has another.  Behind a link there is one way for all.
    uint32_t queue(const Request &request) const;
    uint32_t queues() const { return link_ ? 1 : config_.channels * 2; }
    // Whether the request would find room at the time that was last advanced to.
    bool accepts(const Request &request) const;
    void push(const Request &request); // accepts() is true
    // Waits for room from the arrival on, then pushes: the time at which it did, to which all has
    // been advanced.  What completed meanwhile comes with the next advance.
    Ps admit(const Request &request);
    // A time by which something may happen: too early perhaps, never too late.  `never` if no
    // request is under way.
    Ps next();
    // All that happens before the time; completions are appended.
    void advance(Ps until, std::vector<Completion> &done);

    Statistics statistics(Ps until); // advances to it; the completions come with the next advance
    uint32_t largest_request() const { return largest_request_; } // in bytes
    uint64_t nvm_base() const { return config_.nvm_base; }
    const MemoryConfig &config() const { return config_; }
    // Faithful: appends every DRAM command as it is issued.
    void record(std::vector<Command> *commands);

  private:
    struct Slot { // of a read that is under way
        uint64_t token;
        Ps arrival, latest;
        uint32_t missing; // bursts
        uint32_t bytes;
        Purpose purpose;
        bool nvm;
    };
    struct Burst {
        uint32_t channel;
        uint64_t local; // address within the channel
    };
    struct Bursts { // of a request, numbered within DRAM or NVM
        uint64_t first, last;
        bool nvm;
    };

    Cycle cycle_at(Ps time) const { // the first edge that is not before
        return time == now_ ? now_cycle_ : clock_divider_.divide(time + clock_ps_ - 1);
    }
    Bursts bursts(const Request &request) const;
    Burst burst(uint64_t number, bool nvm) const;
    bool room(const Request &request, Cycle now) const;
    void run(uint32_t channel, Cycle before);
    void run_all(Cycle before);
    void enter(const Request &request, Ps at);
    void screen(const Request &request, Ps at);
    void count(const Request &request, bool nvm);
    void step(Ps until);
    Ps next_event();
    void complete(uint64_t token, Ps at, const Slot *read);
    void collect();
    void deliver(Ps until);
    void return_responses(Ps until);
    Ps next_command(Cycle now);

    const MemoryConfig config_;
    const DramLayout layout_;
    const uint32_t clock_ps_, burst_shift_;
    const Divider clock_divider_, channel_divider_;
    uint32_t granule_shift_[2]; // bursts in a unit of interleaving: DRAM, NVM
    uint32_t largest_request_;
    Ps now_ = 0;
    Cycle now_cycle_ = 0; // the first edge that is not before
    // One of the two is empty.  Asking a screening channel for room makes it forget the past.
    std::vector<DramChannel> channels_;
    mutable std::vector<ScreeningChannel> screening_;
    std::vector<Cycle> next_;     // of each channel: the next command, or earlier
    std::vector<bool> estimated_; // next_ is perhaps too early
    std::vector<Slot> slots_;
    std::vector<uint32_t> free_slots_;
    std::vector<BurstDone> finished_; // bursts, not yet collected
    std::vector<Completion> completions_;
    std::array<Traffic, purposes> traffic_[2]; // DRAM, NVM
    std::optional<Link> link_;
};

} // namespace thermocline
