// The levels behind the first, with AVX2.
#include "levels.h"

void tc::serve_levels_avx2(Recorder &r) { serve_all(r); }
