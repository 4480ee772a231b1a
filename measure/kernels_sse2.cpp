// The kernels with SSE2.
#include "measure/kernels_of.h"

namespace measure {
constinit const Kernels sse2_kernels = KernelsOf<2>::make("sse2");
} // namespace measure
