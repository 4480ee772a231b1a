// The levels behind the first, without vector registers.
#include "levels.h"

void tc::serve_levels(Recorder &r) { serve_all(r); }
