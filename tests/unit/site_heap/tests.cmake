# The profiling heap, by itself: compiled into its tests, so that sanitizers see through it.
set(site_heap_sources ${runtime}/own_memory.cpp ${runtime}/sites/site_heap.cpp
  ${runtime}/sites/site_heap_range.cpp ${runtime}/sites/site_heap_span.cpp ${runtime}/sites/site_heap_thread.cpp
  ${runtime}/sites/site_heap_bin.cpp ${runtime}/sites/site_heap_large.cpp
  ${runtime}/sites/site_stats.cpp)
set(residency_sources ${runtime}/sites/page_scan.cpp ${runtime}/sites/nonheap.cpp ${runtime}/sites/residency.cpp
  ${runtime}/sites/series.cpp)

thermocline_unit_test(site_heap_test site_heap/site_heap_test.cpp ${site_heap_sources})
thermocline_unit_test(site_heap_quick_test site_heap/site_heap_quick_test.cpp ${site_heap_sources})
thermocline_unit_test(residency_test site_heap/site_heap_residency_test.cpp ${site_heap_sources}
  ${residency_sources})
thermocline_unit_test(site_heap_property ../property/site_heap_property.cpp ${site_heap_sources})
set_tests_properties(unit.site_heap_property PROPERTIES LABELS property TIMEOUT 300)
thermocline_library_test(profile_test site_heap/site_heap_profile_test.cpp)
