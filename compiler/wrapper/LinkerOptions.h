// Options to the linker: their forms (-Wl,A,B and -Xlinker A), and what to do
// with those that GNU ld takes and lld doesn't.
#pragma once
#include "Arguments.h"

namespace thermocline {

// The linker's own options in `arguments`, in order, out of their -Wl, and -Xlinker.
Arguments linkerOptions(const Arguments &arguments);

// Takes out what lld refuses and what only tunes GNU ld or silences its
// warnings.  Returns what was taken out.
Arguments dropOptionsLldLacks(Arguments &arguments);

// True if the linker was told to send calls of an allocation routine elsewhere
// (--wrap=malloc).  Annotation would come before that and undo it.
bool wrapsAllocation(const Arguments &linkerOptions);

} // namespace thermocline
