// What organisations that move lines have in common: look-ups in near memory, and lines that
// change places, as requests, in an order in which no data is lost.
//
// A step belongs to a key: one near slot, or a few, and all slots whose lines may come there.
// Steps of one key are done one after the other in the order in which they were added; those of
// different keys don't know of each other.  So the organisation's tables can change when a step is
// added, and a line is read where its data are.  A step
//
//   1. looks up what has to be known (entries in near memory, all at once or one and then the
//      rest), whatever the key's other steps do;
//   2. reads the line that is asked for, and, if lines change places, the others: the lines in
//      slot[0], slot[1], .. go to slot[1], .., slot[0];
//   3. writes them once all are read.  Whoever asked has got its line before that.
//
// A write-back is written instead of read.
#pragma once
#include "simulator/organisation/flat_space.h"
#include "simulator/organisation/keys.h"
#include "simulator/organisation/step.h"

namespace thermocline {

template <class Router> class Steps {
  public:
    Steps(const FlatSpace &space, Router &router) : space_(space), router_(router) {}

    void add(const Step &step, Ps at) {
        keys_.forget(at);
        if (free_steps_.empty()) {
            free_steps_.push_back(uint32_t(steps_.size()));
            steps_.emplace_back();
        }
        const uint32_t index = free_steps_.back();
        free_steps_.pop_back();
        Job &job = steps_[index];
        job = Job{};
        job.step = step;
        job.socket = space_.socket(step.demand);
        if (step.lookup.entries > 0)
            look(index, at);
        if (step.wasted != Step::no_slot) {
            job.pending++;
            statistics_.wasted++;
            read(index, wasted_part, step.wasted, nobody, step.demand.purpose, at);
        }
        enter(index, at);
    }

    Answer completed(uint64_t token, Ps at) {
        const uint32_t index = uint32_t(token / parts);
        const unsigned part = unsigned(token % parts);
        Job &job = steps_[index];
        job.pending--;
        if (part == wasted_part) {
            release(index);
            return {};
        }
        job.latest = std::max(job.latest, at);
        if (part == 0 || part == lookup_part)
            job.known_at = std::max(job.known_at, at);
        if (part == lookup_part) {
            if (--job.looking > 0)
                return {};
            if (job.step.lookup.first < job.step.lookup.entries && job.step.lookup.rest) {
                look_rest(index, at);
                return {};
            }
            update(job, at);
            if (!job.begun) {
                if (keys_[job.chain].head == index)
                    begin(index, std::max(at, keys_[job.chain].free_at));
                return {};
            }
        } else if (part == 0) {
            job.came = true;
        } else if (--job.others == 0 && job.step.serial) {
            read_line(index, 0, job.latest);
        }
        return conclude(index);
    }

    const StepStatistics &statistics() const { return statistics_; }
    nlohmann::json json() const {
        return {{"lookups", statistics_.lookups}, {"lookup_bytes", statistics_.lookup_bytes},
                {"updates", statistics_.updates}, {"update_bytes", statistics_.update_bytes},
                {"swaps", statistics_.swaps},     {"moved_lines", statistics_.moved_lines},
                {"waited", statistics_.waited},   {"wasted_reads", statistics_.wasted}};
    }

  private:
    static constexpr uint32_t nil = Keys::nil;
    static constexpr unsigned parts = 8, lookup_part = 3, wasted_part = 4; // 0 to 2: slots

    struct Job {
        Step step;
        uint32_t socket = 0, chain = nil;
        uint32_t next = nil;   // of its key
        uint32_t pending = 0;  // reads under way
        uint32_t looking = 0;  // of them look-ups
        uint32_t others = 0;   // of them other slots' than the first
        bool came = false;     // slot[0]
        bool begun = false;    // its turn has come
        bool answered = false; // or nobody waits
        bool finished = false; // all is sent, and its key is the next step's
        Ps known_at = 0; // when the line that is asked for had come and was found to be the one
        Ps latest = 0;   // when all had come
    };

    // --- Requests. ---
    void read(uint32_t index, unsigned part, uint64_t slot, uint64_t line, Purpose purpose, Ps at) {
        const Job &job = steps_[index];
        router_.send({space_.node(job.socket, slot), space_.address(slot),
                      uint64_t(index) * parts + part, space_.bytes(slot), job.step.demand.owner,
                      false, purpose, line},
                     at);
    }
    void read_line(uint32_t index, unsigned part, Ps at) {
        Job &job = steps_[index];
        job.pending++;
        const bool probe = job.step.serial && part == 1; // tells where the line is
        const Purpose purpose = part == 0 || probe ? job.step.demand.purpose : Purpose::migration;
        read(index, part, job.step.slot[part], line_of(job, part), purpose, at);
    }
    void write_line(const Job &job, uint64_t slot, unsigned part, Purpose purpose, Ps at) {
        router_.send({space_.node(job.socket, slot), space_.address(slot), nobody,
                      space_.bytes(slot), job.step.demand.owner, true, purpose, line_of(job, part)},
                     at);
    }
    uint64_t line_of(const Job &job, unsigned part) const {
        return job.step.line[part] * space_.sockets() + job.socket;
    }

    void look_at(uint32_t index, uint8_t entry, Ps at) {
        Job &job = steps_[index];
        const Lookup &lookup = job.step.lookup;
        job.pending++;
        job.looking++;
        statistics_.lookups++;
        statistics_.lookup_bytes += lookup.bytes;
        router_.send({lookup.node, lookup.address + uint64_t(entry) * lookup.bytes,
                      uint64_t(index) * parts + lookup_part, lookup.bytes, job.step.demand.owner,
                      false, job.step.demand.write ? Purpose::writeback : job.step.demand.purpose},
                     at);
    }
    void look(uint32_t index, Ps at) {
        const Lookup lookup = steps_[index].step.lookup;
        if (lookup.first < lookup.entries) {
            look_at(index, lookup.first, at);
            return;
        }
        for (uint8_t entry = 0; entry < lookup.entries; entry++)
            look_at(index, entry, at);
    }
    void look_rest(uint32_t index, Ps at) {
        steps_[index].step.lookup.rest = false;
        const Lookup lookup = steps_[index].step.lookup;
        for (uint8_t entry = 0; entry < lookup.entries; entry++)
            if (entry != lookup.first)
                look_at(index, entry, at);
    }
    void update(const Job &job, Ps at) {
        const Lookup &lookup = job.step.lookup;
        if (lookup.update == Lookup::none)
            return;
        statistics_.updates++;
        statistics_.update_bytes += lookup.bytes;
        router_.send({lookup.node, lookup.address + uint64_t(lookup.update) * lookup.bytes, nobody,
                      lookup.bytes, job.step.demand.owner, true, Purpose::writeback},
                     at);
    }

    // --- A step's turn. ---
    void enter(uint32_t index, Ps at) {
        Job &job = steps_[index];
        const uint64_t key = job.step.key * space_.sockets() + job.socket;
        uint32_t chain = keys_.find(key);
        // A read that nothing holds up is sent, and later steps come after it by themselves.
        if (chain == nil && job.looking == 0 && job.step.count == 1) {
            begin(index, at);
            return;
        }
        if (chain == nil)
            chain = keys_.make(key);
        job.chain = chain;
        Keys::Key &mine = keys_[chain];
        if (mine.head != nil) {
            statistics_.waited++;
            steps_[mine.tail].next = index;
            mine.tail = index;
            return;
        }
        mine.head = mine.tail = index;
        if (job.looking == 0 || job.step.early)
            begin(index, std::max(at, mine.free_at));
    }

    // It is the first of its key and knows where its lines are.
    void begin(uint32_t index, Ps at) {
        Job &job = steps_[index];
        job.begun = true;
        job.latest = std::max(job.latest, at);
        if (job.step.demand.write && job.step.count == 1) {
            write_line(job, job.step.slot[0], 0, job.step.demand.purpose, at);
            job.answered = true;
            finish(index, at);
            return;
        }
        job.others = job.step.count - 1;
        for (unsigned part = 1; part < job.step.count; part++)
            read_line(index, part, at);
        if (!job.step.serial)
            read_line(index, 0, at);
        if (job.step.count == 1)
            finish(index, at);
    }

    // After something has come: the answer, if it is due, and the writing.
    Answer conclude(uint32_t index) {
        Job &job = steps_[index];
        Answer answer;
        if (job.came && job.looking == 0 && !job.answered) {
            job.answered = true;
            if (job.step.demand.token != nobody)
                answer = {job.step.demand.token, job.known_at,
                          space_.node(job.socket, job.step.slot[0])};
        }
        if (job.came && job.looking == 0 && job.others == 0 && !job.finished) {
            const uint32_t count = job.step.count;
            for (unsigned part = 0; part < count; part++)
                write_line(job, job.step.slot[(part + 1) % count], part, Purpose::migration,
                           job.latest);
            statistics_.swaps++;
            statistics_.moved_lines += count;
            finish(index, job.latest);
        } else {
            release(index);
        }
        return answer;
    }

    // All is sent that others of its key must not overtake.
    void finish(uint32_t index, Ps at) {
        steps_[index].finished = true;
        const uint32_t chain = steps_[index].chain, after = steps_[index].next;
        release(index);
        if (chain == nil)
            return;
        Keys::Key &mine = keys_[chain];
        mine.free_at = std::max(mine.free_at, at);
        mine.head = after;
        if (after == nil) {
            mine.tail = nil;
            keys_.rest(chain);
            return;
        }
        const Job &next = steps_[after];
        if (next.looking == 0 || next.step.early)
            begin(after, mine.free_at);
    }
    void release(uint32_t index) {
        const Job &job = steps_[index];
        if (job.finished && job.pending == 0)
            free_steps_.push_back(index);
    }

    const FlatSpace &space_;
    Router &router_;
    std::vector<Job> steps_;
    std::vector<uint32_t> free_steps_;
    Keys keys_;
    StepStatistics statistics_;
};

} // namespace thermocline
