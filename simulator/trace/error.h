// What readers and writers of traces throw: one line, for a person.
#pragma once
#include <stdexcept>
#include <string>

namespace thermocline {

struct TraceError : std::runtime_error {
    using std::runtime_error::runtime_error;
};

// The caller asked for what makes no sense, or for a name that is taken.
struct TraceMisuse : TraceError {
    using TraceError::TraceError;
};

} // namespace thermocline
