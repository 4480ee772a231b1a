// What caches in near memory have in common: direct-mapped, write-back, write-allocate, one line
// of 64 bytes a set, the tag next to the data so that one read fetches both.  Each socket's near
// memory caches the far memory (all further tiers) of the same socket.
//
// The contents change when a demand comes.  A read probes; if it misses, what it read is the
// displaced line, which goes to far memory if it is dirty; the line is read from far memory and
// filled.  `early` reads far memory together with the probe: it saves time on a miss and costs
// far bandwidth on a hit.  A write that comes out of the caches probes too, and then is written
// here without reading far memory, since all of the line is new.
#pragma once
#include "simulator/organisation/demand.h"
#include <algorithm>
#include <cstdlib>
#include <memory>
#include <new>

namespace thermocline {

template <class Router> class NearCache {
  public:
    // `sets`: of one socket.  near_address(set) is in the near node.
    NearCache(uint64_t sets, uint32_t unit_bytes, uint32_t sockets, Router &router)
        : sets_(sets), unit_bytes_(unit_bytes), sockets_(sockets), far_tiers_(router.tiers() - 1),
          router_(router), sets_memory_(static_cast<Set *>(calloc(sets * sockets, sizeof(Set)))) {
        // calloc: the kernel gives pages as sets are used, so a large cache costs what it holds.
        if (!sets_memory_)
            throw std::bad_alloc();
    }

    uint64_t line(const Demand &demand) const {
        return demand.address / memory_line_bytes * far_tiers_ + demand.node / sockets_ - 1;
    }
    uint64_t set(const Demand &demand) const { return line(demand) % sets_; }
    bool holds(const Demand &demand) { return at(demand).tag == tag(demand); }

    // A demand of far memory, whose set lies at `near` in the near node.
    void demand(const Demand &demand, uint64_t near, bool early, Ps at) {
        Set &here = this->at(demand);
        Job job;
        job.demand = demand;
        job.near = near;
        job.hit = holds(demand);
        count(demand, job.hit, early);
        if (!job.hit && here.dirty) {
            const uint64_t victim = uint64_t(here.tag - 1) * sets_ + set(demand);
            job.victim = {uint32_t(victim % far_tiers_ + 1) * sockets_ + demand.node % sockets_,
                          victim / far_tiers_ * memory_line_bytes,
                          nobody,
                          memory_line_bytes,
                          here.owner,
                          true,
                          Purpose::writeback};
            evicted_++;
        }
        if (!job.hit || demand.write)
            here.owner = demand.owner;
        here.dirty = demand.write || (job.hit && here.dirty);
        here.tag = tag(demand);
        job.far_asked = early && !demand.write;
        const uint64_t index = add(job);
        router_.send({demand.node % sockets_, near, index * 2, unit_bytes_, demand.owner, false,
                      demand.purpose},
                     at);
        if (early && !demand.write)
            read_far(index, at);
    }

    // A demand of the part of near memory that is no cache.
    void direct(const Demand &demand, Ps at) {
        Job job;
        job.demand = demand;
        job.demand.write = false; // it is sent here
        job.hit = true;
        const uint64_t token = demand.token == nobody ? nobody : add(job) * 2;
        router_.send({demand.node, demand.address, token, memory_line_bytes, demand.owner,
                      demand.write, demand.purpose},
                     at);
    }

    Answer completed(uint64_t token, Ps at) {
        const uint64_t index = token / 2;
        Job &job = jobs_[index];
        job.latest = std::max(job.latest, at);
        if (token % 2 == 0) {
            job.probed = true;
            if (job.victim.write)
                router_.send(job.victim, at);
            if (job.demand.write) {
                write_near(job, Purpose::writeback, at);
            } else if (job.hit) {
                const Answer answer{job.demand.token, at, job.demand.node % sockets_};
                if (!job.far_asked || job.far_came)
                    free_.push_back(index);
                return answer;
            } else if (!job.far_asked) {
                read_far(index, at);
                jobs_[index].far_asked = true;
                return {};
            } else if (!job.far_came) {
                return {};
            }
        } else {
            job.far_came = true;
            if (!job.probed)
                return {};
        }
        // All that it asked for is here.
        free_.push_back(index);
        if (job.demand.write)
            return {job.demand.token, at};
        if (job.hit)
            return {};
        write_near(job, Purpose::migration, job.latest);
        return {job.demand.token, job.latest};
    }

    nlohmann::json statistics() const {
        return {{"read_hits", hits_[0]},       {"read_misses", misses_[0]},
                {"write_hits", hits_[1]},      {"write_misses", misses_[1]},
                {"dirty_evictions", evicted_}, {"early_far_reads", early_},
                {"wasted_far_reads", wasted_}};
    }

  private:
    struct Set {
        uint32_t tag; // line / sets + 1; 0: empty
        uint32_t owner : 31;
        uint32_t dirty : 1;
    };
    struct Job {
        Demand demand;
        uint64_t near = 0;
        Send victim; // a write, or none
        Ps latest = 0;
        bool hit = false, probed = false, far_asked = false, far_came = false;
    };

    Set &at(const Demand &demand) {
        return sets_memory_.get()[demand.node % sockets_ * sets_ + set(demand)];
    }
    uint32_t tag(const Demand &demand) const { return uint32_t(line(demand) / sets_ + 1); }

    uint64_t add(const Job &job) {
        if (free_.empty()) {
            free_.push_back(jobs_.size());
            jobs_.emplace_back();
        }
        const uint64_t index = free_.back();
        free_.pop_back();
        jobs_[index] = job;
        return index;
    }
    void read_far(uint64_t index, Ps at) {
        const Demand &demand = jobs_[index].demand;
        router_.send({demand.node, demand.address, index * 2 + 1, memory_line_bytes, demand.owner,
                      false, demand.purpose},
                     at);
    }
    void write_near(const Job &job, Purpose purpose, Ps at) {
        router_.send({job.demand.node % sockets_, job.near, nobody, unit_bytes_, job.demand.owner,
                      true, purpose},
                     at);
    }
    void count(const Demand &demand, bool hit, bool early) {
        (hit ? hits_ : misses_)[demand.write]++;
        early_ += early && !demand.write;
        wasted_ += early && !demand.write && hit;
    }

    const uint64_t sets_;
    const uint32_t unit_bytes_, sockets_, far_tiers_;
    Router &router_;
    struct Free {
        void operator()(Set *sets) const { free(sets); }
    };
    std::unique_ptr<Set, Free> sets_memory_;
    std::vector<Job> jobs_;
    std::vector<uint64_t> free_;
    uint64_t hits_[2] = {}, misses_[2] = {}, evicted_ = 0, early_ = 0, wasted_ = 0;
};

} // namespace thermocline
