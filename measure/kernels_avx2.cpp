// The kernels with AVX2.
#include "measure/kernels_of.h"

namespace measure {
constinit const Kernels avx2_kernels = KernelsOf<4>::make("avx2");
} // namespace measure
