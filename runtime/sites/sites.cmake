# The profiling heap and what watches it.
list(APPEND runtime_sources
  sites/site_heap.cpp sites/site_heap_range.cpp sites/site_heap_span.cpp
  sites/site_heap_thread.cpp sites/site_heap_bin.cpp sites/site_heap_large.cpp
  sites/site_stats.cpp sites/page_scan.cpp sites/nonheap.cpp sites/residency.cpp
  sites/series.cpp sites/profile.cpp sites/watch.cpp
  online/online.cpp)
list(APPEND runtime_definitions THERMOCLINE_SITE_HEAP)
