#include "measure/kernels.h"
#include <cstring>

namespace measure {

double expected_sum(const Kernels &kernels, unsigned step, size_t doubles) {
    return steps[step] ? 2.0 * 8 * kernels.lanes : static_cast<double>(doubles);
}

const Kernels *find_kernels(const char *isa) {
    __builtin_cpu_init();
    const struct {
        const Kernels *kernels;
        bool works;
    } all[] = {
        {&avx512_kernels, __builtin_cpu_supports("avx512f") != 0},
        {&avx2_kernels, __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")},
        {&sse2_kernels, true},
    };
    for (const auto &each : all)
        if (each.works && (strcmp(isa, "auto") == 0 || strcmp(isa, each.kernels->isa) == 0))
            return each.kernels;
    return nullptr;
}

} // namespace measure
