# Who owned which address when: `sampler owners`.
list(APPEND runtime_sources owners/sampler.cpp owners/log.cpp)
