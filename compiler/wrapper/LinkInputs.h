// The objects of a link: which will stay without annotation, and why.
#pragma once
#include "CommandLine.h"

namespace thermocline {

// Looks at every object and archive that the link names.  Returns one sentence
// for each that can't be annotated.  In `line`, a file whose bitcode is not to be
// trusted (ObjectFile.h, Rewritten) is replaced by a copy that has none.
Arguments examineInputs(CommandLine &line);

} // namespace thermocline
