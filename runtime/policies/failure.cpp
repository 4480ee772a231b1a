// One line a thread, kept until its next failure.
#include "failure.h"
#include "policies.h"
#include <cstring>

namespace tc {

static thread_local char last_failure[320];

Line failure() { return {last_failure, sizeof last_failure}; }

const char *because(int number) {
    const char *text = strerrordesc_np(number);
    return text ? text : "unknown error";
}

} // namespace tc

extern "C" const char *tc_policy_error() { return tc::last_failure; }
