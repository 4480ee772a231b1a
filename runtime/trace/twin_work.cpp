// The modules' words that their twins look at.
#include "twin_work.h"
#include "abi.h"
#include "lock.h"
#include "record.h"

namespace tc {

namespace {

Lock lock;
tc_module *modules; // linked by the field that is the runtime's own
uint32_t wanted = TC_TWINS_RECORD;

void tell(tc_module *module) { __atomic_store_n(module->recording, wanted, __ATOMIC_RELAXED); }
tc_module *next(const tc_module *module) { return static_cast<tc_module *>(module->runtime); }

} // namespace

uint32_t trace_twins_told() { return __atomic_load_n(&wanted, __ATOMIC_RELAXED); }

void trace_tell_twins(uint32_t what) {
    if (trace_twins_told() == what)
        return;
    Guard guard(lock);
    __atomic_store_n(&wanted, what, __ATOMIC_RELAXED);
    for (tc_module *module = modules; module; module = next(module))
        tell(module);
}

void trace_add_module(tc_module *module) {
    Guard guard(lock);
    module->runtime = modules;
    modules = module;
    tell(module);
}

void trace_remove_module(tc_module *module) {
    Guard guard(lock);
    if (modules == module) {
        modules = next(module);
        return;
    }
    for (tc_module *other = modules; other; other = next(other))
        if (other->runtime == module)
            other->runtime = module->runtime;
}

void trace_work_after_fork() { lock.release(); } // whoever held it is not in the child

} // namespace tc
