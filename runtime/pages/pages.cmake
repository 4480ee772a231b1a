# Written and accessed pages: `sampler pages`.
list(APPEND runtime_sources
  pages/sampler.cpp pages/written.cpp pages/accessed.cpp pages/smaps.cpp pages/estimate.cpp)
