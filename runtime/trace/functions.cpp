// Which of a module's functions are to be watched: those that the configuration names.
#include "config.h"
#include "recorder.h"
#include "stream_state.h"
#include "traffic.h"
#include <stdio.h>
#include <string.h>

namespace tc {

// What follows the name in the function's, or null if it is another function.  A part that the
// compiler made of a function has the function's name, a dot and more; a C++ function is also
// known by its name without the scopes.
static const char *rest_behind(const char *function, const char *name) {
    size_t length = strlen(name);
    const char *at = function;
    if (strncmp(at, name, length) != 0)
        at = strstr(function, name);
    for (; at; at = strstr(at + 1, name)) {
        bool begins = at == function || (at - function >= 2 && at[-1] == ':' && at[-2] == ':');
        if (begins && (at[length] == 0 || at[length] == '.'))
            return at + length;
    }
    return nullptr;
}

void trace_watch_functions(const tc_module *module) {
    if (!stream_on)
        return;
    const Config &config = *stream.config;
    if (config.function_count && module->function_count)
        module->functions[0].watched = 1;
    for (uint64_t i = 1; i < module->function_count; i++) {
        tc_function &function = module->functions[i];
        const char *known = reinterpret_cast<const char *>(&function) + function.name;
        const char *symbol = known + strlen(known) + 1;
        for (unsigned n = 0; n < config.function_count && !function.watched; n++) {
            const char *rest = rest_behind(known, config.functions[n]);
            if (!rest)
                rest = rest_behind(symbol, config.functions[n]);
            if (!rest)
                continue;
            // By the name that was asked for, which a region is then picked by.
            char name[128];
            snprintf(name, sizeof name, "%s%s", config.functions[n], rest);
            function.watched = uint32_t(stream_watch(name) + 1);
        }
    }
}

} // namespace tc
