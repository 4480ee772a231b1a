# The profiling heap and what watches it.
list(APPEND runtime_sources
  own_memory.cpp site_heap.cpp site_heap_range.cpp site_heap_span.cpp site_heap_thread.cpp
  site_heap_bin.cpp site_heap_large.cpp
  site_stats.cpp page_scan.cpp nonheap.cpp residency.cpp series.cpp profile.cpp watch.cpp)
list(APPEND runtime_definitions THERMOCLINE_SITE_HEAP)
