// The kernels with AVX-512.
#include "measure/kernels_of.h"

namespace measure {
constinit const Kernels avx512_kernels = KernelsOf<8>::make("avx512");
} // namespace measure
