# Hardware sampling: `sampler sample`.
list(APPEND runtime_sources
  sample/sampler.cpp sample/rings.cpp sample/drain.cpp sample/counts.cpp sample/outside.cpp
  sample/events.cpp sample/records.cpp sample/data_source.cpp sample/spe.cpp)
