// The levels behind the first, with AVX-512.
#include "levels.h"

void tc::serve_levels_avx512(Recorder &r) { serve_all(r); }
