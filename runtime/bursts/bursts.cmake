# Bursts of recording: `sampler bursts`.
list(APPEND runtime_sources bursts/bursts.cpp bursts/estimate.cpp bursts/phases.cpp)
