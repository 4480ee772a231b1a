// The programs that share the machine, each a trace: their threads, one after the other, their
// owners' names, and where each has its memory.
#pragma once
#include "simulator/placement/random.h"
#include "simulator/system/simulation.h"
#include "simulator/system/trace_thread.h"
#include "simulator/translation/page.h"
#include <memory>

namespace thermocline {

class Programs final : public RecordedPages {
  public:
    // Throws ConfigError or TraceError.
    explicit Programs(const SimulationConfig &config) : config_(config) {
        const bool together = config.traces.size() > 1;
        for (size_t number = 0; number < config.traces.size(); number++) {
            TraceReader &trace =
                *traces_.emplace_back(std::make_unique<TraceReader>(config.traces[number]));
            find_threads(number);
            first_owner_.push_back(uint32_t(owners_.size()));
            if (!together)
                break;
            const std::vector<std::string> &owners = trace.tables().owners;
            owners_.insert(owners_.end(), owners.begin(), owners.end());
            spaces_.push_back(std::make_unique<AddressSpace>(
                blocks_, number == 0 ? 0 : mix(number) * page_bytes));
        }
        if (owners_.size() > CacheLine::max_owner)
            throw ConfigError("the programs have more sites than can be told apart: give fewer");
    }

    size_t count() const { return traces_.size(); }
    size_t threads() const { return threads_.size(); }
    // Of a live trace more come as it goes on.
    const std::vector<std::string> &owners() const {
        return traces_.size() > 1 ? owners_ : traces_[0]->tables().owners;
    }
    uint32_t first_owner(size_t program) const { return first_owner_[program]; }
    uint32_t program_of(size_t thread) const { return threads_[thread].program; }
    bool cut_off() const {
        return std::any_of(traces_.begin(), traces_.end(),
                           [](const auto &each) { return each->cut_off(); });
    }

    // A stream says it when it is too late, as sizes can't change.
    // By the middle of its region: programs that share a machine are turned by small pages, so that
    // a large one of theirs need not be aligned here.
    bool large(uint64_t address, uint32_t program) const override {
        const uint64_t middle = (address >> page_bits(1) << page_bits(1)) + (1 << 20);
        return traces_[program]->index() &&
               traces_[program]->tables().large.contains(
                   spaces_.empty() ? middle : blocks_.original(middle));
    }

    std::vector<TraceThread> sources(Placement &placement) {
        std::vector<TraceThread> sources;
        sources.reserve(threads_.size());
        for (const Thread &each : threads_) {
            TraceReader &trace = *traces_[each.program];
            sources.emplace_back(trace.cursor(each.number, config_.region), trace.tables(),
                                 placement, config_.skip, config_.budget);
            if (!spaces_.empty())
                sources.back().share(*spaces_[each.program], first_owner_[each.program]);
        }
        return sources;
    }

    // Of a stream it is known late.
    void check_threads() const {
        for (size_t number = 0; number < traces_.size(); number++) {
            const TraceReader &trace = *traces_[number];
            const uint32_t wanted = wanted_threads(number);
            if (!trace.index() && wanted > 0 && trace.threads().size() > wanted)
                throw ConfigError("the program has more threads than the " +
                                  std::to_string(wanted) + " that are simulated: give --threads");
        }
    }

  private:
    struct Thread {
        uint32_t program, number;
    };

    uint32_t wanted_threads(size_t program) const {
        return program < config_.threads.size() ? config_.threads[program] : 0;
    }
    void find_threads(size_t program) {
        TraceReader &trace = *traces_[program];
        const uint32_t wanted = wanted_threads(program);
        while ((trace.threads().empty() || trace.threads().size() < wanted) && trace.advance())
            ;
        check_threads();
        std::vector<uint32_t> numbers = trace.threads();
        if (wanted > 0 && numbers.size() > wanted)
            numbers.resize(wanted);
        if (numbers.empty())
            throw ConfigError(trace.name() + " holds no references: nothing to simulate");
        for (uint32_t number : numbers)
            threads_.push_back({uint32_t(program), number});
    }

    const SimulationConfig &config_;
    std::vector<std::unique_ptr<TraceReader>> traces_;
    std::vector<Thread> threads_;
    std::vector<std::string> owners_; // of several programs, one after the other
    std::vector<uint32_t> first_owner_;
    AddressBlocks blocks_;
    std::vector<std::unique_ptr<AddressSpace>> spaces_; // of several programs
};

} // namespace thermocline
