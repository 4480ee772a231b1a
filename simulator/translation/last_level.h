// What a core does once its second-level TLB has missed.  Each way of doing it is a class in a file
// of its own and one line in last_level.cpp.
#pragma once
#include "simulator/translation/walker.h"
#include <memory>

namespace thermocline {

class LastLevel {
  public:
    virtual ~LastLevel() = default;

    // The second-level TLB under this organisation.
    struct Second {
        BufferConfig entries;
        bool shared = false; // one for all cores
        Ps time = 0;
    };
    virtual Second second(const TranslationConfig &config, uint32_t) const {
        return {config.second, false, config.second_ps};
    }

    // The page's frame.  Its references happen in the order in which they are given.
    virtual uint64_t miss(uint32_t core, const Page &page, Walker &walker,
                          References &references) = 0;
    // The page has another frame now (a shootdown).
    virtual void forget(const Page &) {}
    virtual nlohmann::json statistics() const { return nlohmann::json::object(); }
};

// Throws ConfigError if there is none of that name, or its options make no sense.
std::unique_ptr<LastLevel> make_last_level(const TranslationConfig &config, uint32_t cores);

} // namespace thermocline
