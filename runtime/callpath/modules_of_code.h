// The loaded modules, as far as call paths need them.
#pragma once
#include "frame_rule.h"
#include <cstdint>

namespace tc {

struct CodeModule {
    uintptr_t start, end;           // where it is mapped
    uintptr_t text_start, text_end; // its executable part
    uintptr_t bias;                 // address - bias: as in the file
    UnwindTable unwind;
    uint64_t table_start; // the unwind table's first words, to tell another file from this one
    uint32_t fingerprint; // of the unwind table: changes with the file's code
    bool library;         // C's, C++'s or Fortran's: it allocates for its callers
    bool own;             // this library
    bool gone;
    char name[64]; // the file's, with other characters than letters, digits and ._+- as _
    const char *path;
};

// The module whose code holds an address, null if there is none.  One caller at a time.  Neither
// locks nor allocates, and knows a module only after the first call with an address in it.
const CodeModule *module_of_code(uintptr_t address);

// Without the table, so that any thread may ask at any time.
bool is_in_module(uintptr_t address);

// Those that were asked for, by number; gone ones too.
uint32_t code_module_count();
const CodeModule &code_module(uint32_t number);

// Changes when an address may mean another module's code than before.
uint32_t code_epoch();

} // namespace tc
